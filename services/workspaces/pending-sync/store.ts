import type { Database } from "@statehouse/postgres";
import type { OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";
import type { CredentialSettings } from "../organization/domain.ts";
import type { Placement } from "../workspace-placement/domain.ts";
import {
  type PendingDeletion,
  type PendingOrganizationDeletion,
  RETRY_AFTER_MS,
} from "./domain.ts";

/** An organization that the access service has not confirmed yet. */
export interface UnprovisionedOrganization extends CredentialSettings {
  id: OrganizationId;
  creatorUserId: string;
  version: bigint;
}

type OrganizationRow = Omit<UnprovisionedOrganization, "version"> & { version: number };

interface PlacementRow {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  version: number;
}

const organizationColumns = `id, creator_user_id as "creatorUserId", revision as version,
  user_tokens_enabled as "userTokensEnabled", max_ttl_enabled as "maxTtlEnabled"`;
const placementColumns = `id as "workspaceId", organization_id as "organizationId",
  project_id as "projectId", placement_version as version`;
const deletionColumns = `workspace_id as "workspaceId", organization_id as "organizationId",
  project_id as "projectId"`;

const withVersion = <Row extends { version: number }>(row: Row) => ({
  ...row,
  version: BigInt(row.version),
});

/** Maximum number of rows that a replica claims with one statement. Each row costs a call to another service. */
const CLAIM = 100;

/** Reads of the changes that another service has not confirmed, outside any transaction. */
const reads = (database: Database) => ({
  async findUnprovisioned(id: string): Promise<UnprovisionedOrganization | undefined> {
    const [row] = await database.query<OrganizationRow>(
      // index: organizations_pkey
      `select ${organizationColumns} from organizations where id = $1 and status = 'provisioning'`,
      [id],
    );
    return row && withVersion(row);
  },

  async findPendingPlacement(id: string): Promise<Placement | undefined> {
    const [row] = await database.query<PlacementRow>(
      // index: workspaces_pkey
      `select ${placementColumns} from workspaces
       where id = $1 and placement_acknowledged < placement_version`,
      [id],
    );
    return row && withVersion(row);
  },

  async findPendingDeletion(id: string): Promise<PendingDeletion | undefined> {
    const [row] = await database.query<PendingDeletion>(
      // index: workspace_deletions_pkey
      `select ${deletionColumns} from workspace_deletions
       where workspace_id = $1 and retry_at is not null`,
      [id],
    );
    return row;
  },

  /**
   * Returns deletions of the organization's workspaces that the state service has not confirmed, whether they are due
   * for a retry or not.
   */
  async pendingDeletionsOf(id: OrganizationId, limit: number): Promise<PendingDeletion[]> {
    return database.query<PendingDeletion>(
      // index: workspace_deletions_name
      `select ${deletionColumns} from workspace_deletions
       where organization_id = $1 and retry_at is not null limit $2`,
      [id, limit],
    );
  },
});

/**
 * Single statements outside any transaction. `claim…` returns overdue rows and postpones their next retry, so that
 * replicas share the work without keeping a transaction open. `mark…` and `clear…` record that another service has
 * confirmed the change.
 */
const leases = (database: Database) => {
  const claim = <Row>(table: string, key: string, overdue: string, columns: string, now: Date) =>
    database.query<Row>(
      // index: organizations_unsettled, workspaces_unsettled, workspace_deletions_unsettled,
      // organization_deletions_unsettled
      `update ${table} set retry_at = $2 where ${key} = any(array(
         select ${key} from ${table} where ${overdue} and retry_at <= $1
         order by retry_at limit ${CLAIM} for update skip locked))
       returning ${columns}`,
      [now, new Date(now.getTime() + RETRY_AFTER_MS)],
    );

  return {
    async claimUnprovisioned(now: Date): Promise<UnprovisionedOrganization[]> {
      const overdue = "status = 'provisioning'";
      const rows = await claim<OrganizationRow>(
        "organizations",
        "id",
        overdue,
        organizationColumns,
        now,
      );
      return rows.map(withVersion);
    },

    async claimPendingPlacements(now: Date): Promise<Placement[]> {
      const overdue = "placement_acknowledged < placement_version";
      const rows = await claim<PlacementRow>("workspaces", "id", overdue, placementColumns, now);
      return rows.map(withVersion);
    },

    async claimPendingDeletions(now: Date): Promise<PendingDeletion[]> {
      const overdue = "retry_at is not null";
      return claim("workspace_deletions", "workspace_id", overdue, deletionColumns, now);
    },

    async claimPendingOrganizationDeletions(now: Date): Promise<PendingOrganizationDeletion[]> {
      const columns = `organization_id as "organizationId"`;
      const overdue = "retry_at is not null";
      return claim("organization_deletions", "organization_id", overdue, columns, now);
    },

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
