import type { Holder, OrganizationId, WorkspaceId } from "../domain/ids.ts";
import type { StateRecord } from "../domain/state-comparison.ts";
import type { StateSummary } from "../domain/state-summary.ts";
import type { ManagedResources } from "../domain/workspace-deletion.ts";
import type { Placement } from "../domain/workspace-placement.ts";

/** The organization settings that access stores. */
export interface TokenSettings {
  organizationId: OrganizationId;
  userTokensEnabled: boolean;
  version: bigint;
}

/** The calls of workspaces to the service access. */
export interface AccessClient {
  /** Creates the team of owners with the creator as member; a repeat changes nothing. */
  provisionOrganization(organization: {
    id: OrganizationId;
    creatorUserId: string;
    version: bigint;
  }): Promise<void>;
  /** The settings that restrict credentials; only higher versions apply. */
  setOrganizationSettings(settings: TokenSettings): Promise<void>;
  /**
   * Deletes everything of the organization in access, including its grants, before it returns; a repeat changes
   * nothing.
   */
  dropOrganization(id: OrganizationId): Promise<void>;
  /** The name of a user or team for a text; undefined for an unknown id. */
  nameOf(holder: Holder): Promise<string | undefined>;
}

/** The calls of workspaces to the service state. Repeats change nothing. */
export interface StateClient {
  /** Seals a lock epoch. Throws `unavailable` while a version of it is pending, unless discarded. */
  sealLock(
    workspaceId: WorkspaceId,
    epoch: bigint,
    options: { discardPending: boolean },
  ): Promise<StateSummary>;
  setPlacement(placement: Placement): Promise<void>;
  /** Makes the state permanently unreadable. */
  dropWorkspace(workspaceId: string, organizationId?: OrganizationId): Promise<void>;
  /** Also seals the epoch: the result stays true while the deletion lock is held. */
  managedResources(workspaceId: WorkspaceId, epoch: bigint): Promise<ManagedResources>;
  /** After this, nothing is deleted according to an earlier version. */
  raiseRetentionVersion(version: bigint): Promise<void>;
  /** The records of these workspaces, or of those after an id, in state's order. */
  listWorkspaces(
    which: { workspaceIds: readonly string[] } | { after: string; limit: number },
  ): Promise<StateRecord[]>;
}
