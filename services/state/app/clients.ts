import type { Principal } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import type { LockAnswer } from "../domain/lock-epoch.ts";
import type { RetentionAnswer } from "../domain/retention.ts";
import type { Placement } from "../domain/workspace-state.ts";
import type { OrganizationBilling } from "../store/organization-billing.ts";

// Other services are never called while a transaction is open.

/** The calls of state to the service access. */
export interface AccessClient {
  /** The principal of a bearer token. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Principal>;
}

/** The calls of state to the service workspaces. */
export interface WorkspacesClient {
  /** Returns the workspace's lock and placement, and the workspace of the run. Throws `notFound`. */
  getLock(workspaceId: WorkspaceId, runId?: string): Promise<LockAnswer>;
  /** Returns the workspace's placement. Throws `notFound`. */
  getPlacement(workspaceId: WorkspaceId): Promise<Placement>;
  /** The placements of those of the workspaces that exist, and which of the others are deleted. */
  batchGetPlacements(workspaceIds: readonly WorkspaceId[]): Promise<{
    placements: Placement[];
    deletedWorkspaceIds: WorkspaceId[];
  }>;
  /** How those of the organizations that exist are billed. */
  batchGetBilling(organizationIds: readonly string[]): Promise<OrganizationBilling[]>;
  /** Returns the retention of each of the workspaces; unknown workspaces are omitted. */
  batchGetRetention(
    workspaceIds: readonly WorkspaceId[],
  ): Promise<Omit<RetentionAnswer, "requestedAt">>;
  /** Returns those of the workspaces whose state a run of `consumerId` may read; none once the run has ended. */
  listReadableByRun(question: {
    runId: string;
    consumerId: string;
    workspaceIds: readonly string[];
  }): Promise<ReadonlySet<string>>;
}
