import type { Principal } from "@statehouse/authorization";
import type { WorkspaceId } from "./ids-domain.ts";
import type { LockAnswer } from "./lock-epoch/domain.ts";
import type { OrganizationBilling } from "./organization-billing/store.ts";
import type { RetentionAnswer } from "./retention/domain.ts";
import type { Placement } from "./workspace-state/domain.ts";

// Other services are never called while a transaction is open.

/** The calls that the state service makes to the access service. */
export interface AccessClient {
  /** Returns the principal of a bearer token. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Principal>;
  /** Returns the principal of a token by its id. Throws `unauthenticated`. */
  authenticateTokenId(tokenId: string): Promise<Principal>;
  userExists(id: string): Promise<boolean>;
}

/** The calls that the state service makes to the workspaces service. */
export interface WorkspacesClient {
  /** Returns the workspace's lock and placement. Throws `notFound`. */
  getLock(workspaceId: WorkspaceId): Promise<LockAnswer>;
  /** Returns the workspace's placement. Throws `notFound`. */
  getPlacement(workspaceId: WorkspaceId): Promise<Placement>;
  /** Returns the workspace for which the run was reported; null until the run is reported. */
  getRunWorkspace(runId: string): Promise<string | null>;
  /** Returns the placements of the workspaces that exist, and the ids of those that have been deleted. */
  batchGetPlacements(workspaceIds: readonly WorkspaceId[]): Promise<{
    placements: Placement[];
    deletedWorkspaceIds: WorkspaceId[];
  }>;
  /** Returns how each organization is billed; organizations that do not exist are omitted. */
  batchGetBilling(organizationIds: readonly string[]): Promise<OrganizationBilling[]>;
  /** Returns the retention of each workspace; unknown workspaces are omitted. */
  batchGetRetention(
    workspaceIds: readonly WorkspaceId[],
  ): Promise<Omit<RetentionAnswer, "requestedAt">>;
  /**
   * Returns the workspaces among `workspaceIds` whose state the run `runId` of the workspace `consumerId` may read.
   * After the run has ended, returns an empty set.
   */
  listReadableByRun(question: {
    runId: string;
    consumerId: string;
    workspaceIds: readonly string[];
  }): Promise<ReadonlySet<string>>;
}
