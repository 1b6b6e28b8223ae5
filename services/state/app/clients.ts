import type { Principal } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import type { LockAnswer } from "../domain/lock-epoch.ts";
import type { RetentionAnswer } from "../domain/retention.ts";
import type { Placement } from "../domain/workspace-state.ts";

// Other services are never called while a transaction is open.

/** The calls of state to the service access. */
export interface AccessClient {
  /** The principal of a bearer token. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Principal>;
}

/** The calls of state to the service workspaces. */
export interface WorkspacesClient {
  /** The workspace's lock and placement, and the workspace of the run. Throws `notFound`. */
  getLock(workspaceId: WorkspaceId, runId?: string): Promise<LockAnswer>;
  /** Throws `notFound`. */
  getPlacement(workspaceId: WorkspaceId): Promise<Placement>;
  /** The retention of those of the workspaces that exist. */
  batchGetRetention(
    workspaceIds: readonly WorkspaceId[],
  ): Promise<Omit<RetentionAnswer, "requestedAt">>;
  /** Those of the workspaces whose state a run of `consumerId` may read; none once it has ended. */
  listReadableByRun(question: {
    runId: string;
    consumerId: string;
    workspaceIds: readonly string[];
  }): Promise<ReadonlySet<string>>;
}
