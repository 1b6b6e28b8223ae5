import type { Database } from "@statehouse/postgres";
import type { OrganizationId, WorkspaceId } from "../ids-domain.ts";
import type { VersionedCredentialSettings } from "../organization/domain.ts";
import { type WithNumericVersion, withVersion } from "../version-store.ts";
import type { Placement } from "../workspace-placement/domain.ts";
import {
  type PendingDeletion,
  type PendingOrganizationDeletion,
  RETRY_AFTER_MS,
} from "./domain.ts";

/** An organization that the access service has not confirmed yet. */
export interface UnprovisionedOrganization extends VersionedCredentialSettings {
  creatorUserId: string;
}

/** A kind of change that another service must confirm. */
interface Kind {
  table: string;
  key: string;
  /** SQL condition: whether the other service has not confirmed the change. */
  pending: string;
  columns: string;
}

const organizations = {
  table: "organizations",
  key: "id",
  pending: "status = 'provisioning'",
  columns: `id as "organizationId", creator_user_id as "creatorUserId", revision as version,
    user_tokens_enabled as "userTokensEnabled", max_ttl_enabled as "maxTtlEnabled"`,
};
const placements = {
  table: "workspaces",
  key: "id",
  pending: "placement_acknowledged < placement_version",
  columns: `id as "workspaceId", organization_id as "organizationId", project_id as "projectId",
    placement_version as version`,
};
const workspaceDeletions = {
  table: "workspace_deletions",
  key: "workspace_id",
  pending: "retry_at is not null",
  columns: `workspace_id as "workspaceId", organization_id as "organizationId",
    project_id as "projectId"`,
};
const organizationDeletions = {
  table: "organization_deletions",
  key: "organization_id",
  pending: "retry_at is not null",
  columns: `organization_id as "organizationId"`,
};

/** Maximum number of rows that a replica claims with one statement. Each row costs a call to another service. */
const CLAIM = 100;

/** Reads of the changes that another service has not confirmed, outside any transaction. */
const reads = (database: Database) => {
  const find = async <Row>({ table, key, pending, columns }: Kind, id: string) => {
    const [row] = await database.query<Row>(
      // index: organizations_pkey, workspaces_pkey, workspace_deletions_pkey
      `select ${columns} from ${table} where ${key} = $1 and ${pending}`,
      [id],
    );
    return row;
  };

  return {
    async findUnprovisioned(id: string): Promise<UnprovisionedOrganization | undefined> {
      const row = await find<WithNumericVersion<UnprovisionedOrganization>>(organizations, id);
      return row && withVersion(row);
    },

    async findPendingPlacement(id: string): Promise<Placement | undefined> {
      const row = await find<WithNumericVersion<Placement>>(placements, id);
      return row && withVersion(row);
    },

    findPendingDeletion: (id: string): Promise<PendingDeletion | undefined> =>
      find(workspaceDeletions, id),

    /**
     * Returns deletions of the organization's workspaces that the state service has not confirmed, whether they are due
     * for a retry or not.
     */
    async pendingDeletionsOf(id: OrganizationId, limit: number): Promise<PendingDeletion[]> {
      return database.query<PendingDeletion>(
        // index: workspace_deletions_name
        `select ${workspaceDeletions.columns} from workspace_deletions
         where organization_id = $1 and retry_at is not null limit $2`,
        [id, limit],
      );
    },
  };
};

/**
 * Single statements outside any transaction. `claim…` returns overdue rows and postpones their next retry, so that
 * replicas share the work without keeping a transaction open. `mark…` and `clear…` record that another service has
 * confirmed the change.
 */
const leases = (database: Database) => {
  const claim = <Row>({ table, key, pending, columns }: Kind, now: Date) =>
    database.query<Row>(
      // index: organizations_unsettled, workspaces_unsettled, workspace_deletions_unsettled,
      // organization_deletions_unsettled
      `update ${table} set retry_at = $2 where ${key} = any(array(
         select ${key} from ${table} where ${pending} and retry_at <= $1
         order by retry_at limit ${CLAIM} for update skip locked))
       returning ${columns}`,
      [now, new Date(now.getTime() + RETRY_AFTER_MS)],
    );

  return {
    claimUnprovisioned: async (now: Date): Promise<UnprovisionedOrganization[]> =>
      (await claim<WithNumericVersion<UnprovisionedOrganization>>(organizations, now)).map(
        withVersion,
      ),

    claimPendingPlacements: async (now: Date): Promise<Placement[]> =>
      (await claim<WithNumericVersion<Placement>>(placements, now)).map(withVersion),

    claimPendingDeletions: (now: Date): Promise<PendingDeletion[]> =>
      claim(workspaceDeletions, now),

    claimPendingOrganizationDeletions: (now: Date): Promise<PendingOrganizationDeletion[]> =>
      claim(organizationDeletions, now),

    async markOrganizationProvisioned(id: OrganizationId): Promise<void> {
      await database.query(
        // index: organizations_pkey
        "update organizations set status = 'active' where id = $1 and status = 'provisioning'",
        [id],
      );
    },

    async markPlacementSynced({ workspaceId, version }: Placement): Promise<void> {
      await database.query(
        // index: workspaces_pkey
        `update workspaces set placement_acknowledged = $2
         where id = $1 and placement_acknowledged < $2`,
        [workspaceId, String(version)],
      );
    },

    /**
     * Makes the deletion due immediately, so that any replica continues it. Called after a part of the deletion is
     * complete.
     */
    async rescheduleOrganizationDeletion(id: OrganizationId, now: Date): Promise<void> {
      await database.query(
        // index: organization_deletions_pkey
        `update organization_deletions set retry_at = $2
         where organization_id = $1 and retry_at is not null`,
        [id, now],
      );
    },

    /** Clears the deletion record except for the workspace's id, which must not be reused. */
    async clearDeletion(id: WorkspaceId): Promise<void> {
      await database.query(
        // index: workspace_deletions_pkey
        `update workspace_deletions
         set organization_id = null, project_id = null, name = null, retry_at = null
         where workspace_id = $1`,
        [id],
      );
    },
  };
};

export const pendingSyncs = { reads, leases };
