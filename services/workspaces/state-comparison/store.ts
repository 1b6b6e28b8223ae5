import type { Database } from "@statehouse/postgres";
import type { OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";
import type { OwnRecord } from "./domain.ts";

/**
 * The progress of the comparison with the state service: first through that service's rows (`theirs`), then through the
 * rows of this service (`ours`). `after` is the last compared workspace id.
 */
export interface ComparisonPosition {
  through: "theirs" | "ours";
  after: string;
}

interface OwnRow {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId | null;
  projectId: ProjectId | null;
  placementVersion: number;
  stateRevision: number;
}

const recordOf = (row: OwnRow): OwnRecord => {
  const { workspaceId, organizationId, projectId } = row;
  if (organizationId === null || projectId === null) return { deleted: true };
  const version = BigInt(row.placementVersion);
  const placement = { workspaceId, organizationId, projectId, version };
  return { deleted: false, placement, stateRevision: BigInt(row.stateRevision) };
};

const reads = (database: Database) => ({
  /** Returns the records of these workspaces by id, including those of deleted workspaces. */
  async ofWorkspaces(ids: readonly string[]): Promise<Map<string, OwnRecord>> {
    const rows = await database.query<OwnRow>(
      // index: workspaces_pkey, workspace_deletions_pkey
      `select id as "workspaceId", organization_id as "organizationId", project_id as "projectId",
         placement_version as "placementVersion", state_revision as "stateRevision"
       from workspaces where id = any($1)
       union all
       select workspace_id, null, null, 0, 0 from workspace_deletions where workspace_id = any($1)`,
      [ids],
    );
    return new Map(rows.map((row) => [row.workspaceId, recordOf(row)]));
  },

  /**
   * Returns a page of workspaces after an id, in this database's order. `reported` shows whether the state service has
   * reported on the workspace.
   */
  async reportedAfter(after: string, limit: number): Promise<{ id: string; reported: boolean }[]> {
    return database.query(
      // index: workspaces_pkey
      `select id, state_revision > 0 as reported from workspaces where id > $1 order by id limit $2`,
      [after, limit],
    );
  },
});

const leases = (database: Database) => ({
  /**
   * Leases the next page to the caller until `leaseUntil`. Returns undefined if no page is due or another replica holds
   * the lease.
   */
  async claim(now: Date, leaseUntil: Date): Promise<ComparisonPosition | undefined> {
    const [row] = await database.query<ComparisonPosition>(
      `update state_comparison set due_at = $2 where due_at <= $1 returning through, after`,
      [now, leaseUntil],
    );
    return row;
  },

  async moveTo({ through, after }: ComparisonPosition, dueAt: Date): Promise<void> {
    await database.query(`update state_comparison set through = $1, after = $2, due_at = $3`, [
      through,
      after,
      dueAt,
    ]);
  },
});

export const stateComparisons = { reads, leases };
