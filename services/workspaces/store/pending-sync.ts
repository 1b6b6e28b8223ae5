import type { Database } from "@statehouse/postgres";
import type { OrganizationId, ProjectId, WorkspaceId } from "../domain/ids.ts";
import {
  type PendingDeletion,
  type PendingOrganizationDeletion,
  RETRY_AFTER_MS,
} from "../domain/pending-sync.ts";
import type { Placement } from "../domain/workspace-placement.ts";

/** An organization that access has not acknowledged. */
export interface UnprovisionedOrganization {
  id: OrganizationId;
  creatorUserId: string;
  version: bigint;
  userTokensEnabled: boolean;
}

interface OrganizationRow {
  id: OrganizationId;
  creatorUserId: string;
  version: number;
  userTokensEnabled: boolean;
}

interface PlacementRow {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  version: number;
}

const organizationColumns = `id, creator_user_id as "creatorUserId", revision as version,
  user_tokens_enabled as "userTokensEnabled"`;
const placementColumns = `id as "workspaceId", organization_id as "organizationId",
  project_id as "projectId", placement_version as version`;
const deletionColumns = `workspace_id as "workspaceId", organization_id as "organizationId",
  project_id as "projectId"`;

const withVersion = <Row extends { version: number }>(row: Row) => ({
  ...row,
  version: BigInt(row.version),
});

/** So many at a time: each costs a call to a neighbour. */
const CLAIM = 100;

/**
 * What a neighbour has acknowledged, and what it still has to. `claim…` takes what is overdue, and puts
 * it off for the next one who looks, so that replicas share the work without holding a transaction.
 */
export const pendingSyncsOf = (database: Database) => {
  const claim = <Row>(table: string, key: string, overdue: string, columns: string, now: Date) =>
    database.query<Row>(
      // index: organizations_unsettled, workspaces_unsettled, workspace_deletions_unsettled,
      // organization_deletions_unsettled
      `update ${table} set retry_at = $2 where ${key} in (
         select ${key} from ${table} where ${overdue} and retry_at <= $1
         order by retry_at limit ${CLAIM} for update skip locked)
       returning ${columns}`,
      [now, new Date(now.getTime() + RETRY_AFTER_MS)],
    );

  return {
    async findUnprovisioned(id: string): Promise<UnprovisionedOrganization | undefined> {
      const [row] = await database.query<OrganizationRow>(
        // index: organizations_pkey
        `select ${organizationColumns} from organizations where id = $1 and status = 'provisioning'`,
        [id],
      );
      return row && withVersion(row);
    },

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

    async markOrganizationProvisioned(id: OrganizationId): Promise<void> {
      await database.query(
        // index: organizations_pkey
        "update organizations set status = 'active' where id = $1 and status = 'provisioning'",
        [id],
      );
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

    async claimPendingPlacements(now: Date): Promise<Placement[]> {
      const overdue = "placement_acknowledged < placement_version";
      const rows = await claim<PlacementRow>("workspaces", "id", overdue, placementColumns, now);
      return rows.map(withVersion);
    },

    async markPlacementSynced({ workspaceId, version }: Placement): Promise<void> {
      await database.query(
        // index: workspaces_pkey
        `update workspaces set placement_acknowledged = $2
         where id = $1 and placement_acknowledged < $2`,
        [workspaceId, String(version)],
      );
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

    async claimPendingDeletions(now: Date): Promise<PendingDeletion[]> {
      const overdue = "retry_at is not null";
      return claim("workspace_deletions", "workspace_id", overdue, deletionColumns, now);
    },

    /** Of the workspaces of an organization that is being deleted, whether due or not. */
    async pendingDeletionsOf(id: OrganizationId, limit: number): Promise<PendingDeletion[]> {
      return database.query<PendingDeletion>(
        // index: workspace_deletions_name
        `select ${deletionColumns} from workspace_deletions
         where organization_id = $1 and retry_at is not null limit $2`,
        [id, limit],
      );
    },

    async claimPendingOrganizationDeletions(now: Date): Promise<PendingOrganizationDeletion[]> {
      const columns = `organization_id as "organizationId"`;
      const overdue = "retry_at is not null";
      return claim("organization_deletions", "organization_id", overdue, columns, now);
    },

    /** A part of it is done: whoever looks next may go on at once. */
    async rescheduleOrganizationDeletion(id: OrganizationId, now: Date): Promise<void> {
      await database.query(
        // index: organization_deletions_pkey
        `update organization_deletions set retry_at = $2
         where organization_id = $1 and retry_at is not null`,
        [id, now],
      );
    },

    /** Leaves nothing but the id, which is never used again. */
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

export type PendingSyncs = ReturnType<typeof pendingSyncsOf>;
