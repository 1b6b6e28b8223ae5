import type { Action, Target } from "@statehouse/authorization";
import type { Holder, OrganizationId, WorkspaceId } from "./ids-domain.ts";
import type { VersionedCredentialSettings } from "./organization/domain.ts";
import type { UnprovisionedOrganization } from "./pending-sync/store.ts";
import type { StateRecord } from "./state-comparison/domain.ts";
import type { StateSummary } from "./state-summary/domain.ts";
import type { ManagedResources } from "./workspace-deletion/domain.ts";
import type { Placement } from "./workspace-placement/domain.ts";

/** Asks whether a user, team or run may perform at least one of several actions on a workspace. */
export interface ActionCheck {
  principal: Holder;
  target: Required<Target>;
  actions: readonly Action[];
}

/** The calls that the workspaces service makes to the access service. */
export interface AccessClient {
  /**
   * Creates an organization with the settings that restrict credentials, and its owners team with the creator as its
   * member. Repeating the call changes nothing.
   */
  provisionOrganization(organization: UnprovisionedOrganization): Promise<void>;
  /**
   * Sends the organization's settings that restrict credentials. The access service ignores settings whose version is
   * not higher than the stored version.
   */
  setOrganizationSettings(settings: VersionedCredentialSettings): Promise<void>;
  /**
   * Deletes all data of an organization in the access service, including its grants. Repeating the call changes
   * nothing.
   */
  dropOrganization(id: OrganizationId): Promise<void>;
  /** Returns the name of a user or team; undefined for a run, or if the id is unknown. */
  nameOf(holder: Holder): Promise<string | undefined>;
  /**
   * Returns for each check, in the same order, whether its principal may perform at least one of its actions. Returns
   * false for a principal that does not exist and for a run that has ended.
   */
  batchCheckActions(checks: readonly ActionCheck[]): Promise<boolean[]>;
}

/** The calls that the workspaces service makes to the state service. Repeating a call changes nothing. */
export interface StateClient {
  /**
   * Seals a lock epoch, so that later state writes of this epoch fail, and returns the workspace's state summary.
   * Throws `unavailable` while a state version of the epoch is pending; with `discardPending`, pending versions are
   * discarded instead.
   */
  sealLock(
    workspaceId: WorkspaceId,
    epoch: bigint,
    options: { discardPending: boolean },
  ): Promise<StateSummary>;
  /**
   * Sends a placement. The state service stores it only if its version is higher than the stored version, or if the
   * stored version equals `replacedVersion`.
   */
  setPlacement(placement: Placement, options?: { replacedVersion: bigint }): Promise<void>;
  /** Makes all state of the workspace permanently unreadable. */
  dropWorkspace(workspaceId: string, organizationId?: OrganizationId): Promise<void>;
  /**
   * Returns the number of resources that the workspace manages. Also seals the lock epoch, unless an upload is in
   * progress, so that the number cannot change while the deletion lock is held.
   */
  managedResources(workspaceId: WorkspaceId, epoch: bigint): Promise<ManagedResources>;
  /**
   * Sets the lowest retention version that the state service may use. After the call returns, the state service no
   * longer deletes state on the basis of an earlier retention version.
   */
  raiseRetentionVersion(version: bigint): Promise<void>;
  /**
   * Returns the state service's records of the workspaces `workspaceIds`, or a page of at most `limit` records after
   * the workspace id `after`. The page is in the sort order of the state service's database.
   */
  listWorkspaces(
    which: { workspaceIds: readonly string[] } | { after: string; limit: number },
  ): Promise<StateRecord[]>;
}
