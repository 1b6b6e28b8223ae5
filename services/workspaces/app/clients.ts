import type { Holder, OrganizationId, WorkspaceId } from "../domain/ids.ts";
import type { CredentialSettings } from "../domain/organization.ts";
import type { StateRecord } from "../domain/state-comparison.ts";
import type { StateSummary } from "../domain/state-summary.ts";
import type { ManagedResources } from "../domain/workspace-deletion.ts";
import type { Placement } from "../domain/workspace-placement.ts";

/** The calls of workspaces to the service access. */
export interface AccessClient {
  /** Creates the team of owners with the creator as member; a repeat changes nothing. */
  provisionOrganization(organization: {
    id: OrganizationId;
    creatorUserId: string;
    version: bigint;
  }): Promise<void>;
  /** Sends the settings that restrict credentials; only higher versions apply. */
  setOrganizationSettings(
    settings: CredentialSettings & { organizationId: OrganizationId; version: bigint },
  ): Promise<void>;
  /** Deletes everything that access stores of the organization, including its grants; a repeat changes nothing. */
  dropOrganization(id: OrganizationId): Promise<void>;
  /** The name of a user or team, for error texts; undefined if the id is unknown. */
  nameOf(holder: Holder): Promise<string | undefined>;
}

/** The calls of workspaces to the service state. A repeated call changes nothing. */
export interface StateClient {
  /**
   * Seals a lock epoch. Throws `unavailable` while a state version of the epoch is pending, unless pending versions
   * are discarded.
   */
  sealLock(
    workspaceId: WorkspaceId,
    epoch: bigint,
    options: { discardPending: boolean },
  ): Promise<StateSummary>;
  /** State applies only higher versions, except over `replacedVersion`. */
  setPlacement(placement: Placement, options?: { replacedVersion: bigint }): Promise<void>;
  /** Makes the state permanently unreadable. */
  dropWorkspace(workspaceId: string, organizationId?: OrganizationId): Promise<void>;
  /** Also seals the epoch, so that the result remains true while the deletion lock is held. */
  managedResources(workspaceId: WorkspaceId, epoch: bigint): Promise<ManagedResources>;
  /** After the call returns, state deletes nothing according to an earlier version. */
  raiseRetentionVersion(version: bigint): Promise<void>;
  /** The records of the given workspaces, or of the workspaces after an id, in state's order. */
  listWorkspaces(
    which: { workspaceIds: readonly string[] } | { after: string; limit: number },
  ): Promise<StateRecord[]>;
}
