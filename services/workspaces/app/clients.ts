import type { Holder, OrganizationId, WorkspaceId } from "../domain/ids.ts";
import type { StateRecord } from "../domain/state-comparison.ts";
import type { StateSummary } from "../domain/state-summary.ts";
import type { ManagedResources } from "../domain/workspace-deletion.ts";
import type { Placement } from "../domain/workspace-placement.ts";

/** What access keeps of an organization's settings. */
export interface TokenSettings {
  organizationId: OrganizationId;
  userTokensEnabled: boolean;
  version: bigint;
}

/** What workspaces asks of access. */
export interface AccessClient {
  /** Makes the team of owners with the creator in it; a repeat changes nothing. */
  provisionOrganization(organization: {
    id: OrganizationId;
    creatorUserId: string;
    version: bigint;
  }): Promise<void>;
  /** What decides about credentials; only higher versions apply. */
  setOrganizationSettings(settings: TokenSettings): Promise<void>;
  /** Takes away everything of it, its grants at once; a repeat changes nothing. */
  dropOrganization(id: OrganizationId): Promise<void>;
  /** The name of a user or team for a text; undefined when nobody is known by that id. */
  nameOf(holder: Holder): Promise<string | undefined>;
}

/** What workspaces asks of state. Repeats change nothing. */
export interface StateClient {
  /** Ends an epoch of the lock. Throws `unavailable` while a version of it is pending, unless discarded. */
  sealLock(
    workspaceId: WorkspaceId,
    epoch: bigint,
    options: { discardPending: boolean },
  ): Promise<StateSummary>;
  setPlacement(placement: Placement): Promise<void>;
  /** Makes the state unreadable for ever. */
  dropWorkspace(workspaceId: string, organizationId?: OrganizationId): Promise<void>;
  /** Also ends the epoch: what was asked stays true for as long as the deletion lock is held. */
  managedResources(workspaceId: WorkspaceId, epoch: bigint): Promise<ManagedResources>;
  /** Nothing is deleted any more for what counted before this version. */
  raiseRetentionVersion(version: bigint): Promise<void>;
  /** What it knows of these workspaces, or of those after an id, in its own order. */
  listWorkspaces(
    which: { workspaceIds: readonly string[] } | { after: string; limit: number },
  ): Promise<StateRecord[]>;
}
