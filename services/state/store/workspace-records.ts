import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { WorkspaceStateRecord } from "../domain/workspace-state.ts";

/** What state knows of workspaces, for workspaces to compare. */
export interface WorkspaceRecords {
  ofWorkspaces(ids: readonly string[]): Promise<WorkspaceStateRecord[]>;
  /** In the order of this database. */
  recordsAfter(after: string, limit: number): Promise<WorkspaceStateRecord[]>;
}

interface RecordRow {
  workspace_id: WorkspaceId;
  current_version_id: StateVersionId | null;
  resource_count: number;
  latest_change_at: Date | null;
  revision: number;
  placement_version: number;
  dropped: boolean;
}

const selectRecords = `select workspace_id, current_version_id, resource_count, latest_change_at,
  revision, placement_version, dropped_at is not null as dropped from workspace_state`;

const recordOf = (row: RecordRow): WorkspaceStateRecord => ({
  summary: {
    workspaceId: row.workspace_id,
    currentVersionId: row.current_version_id,
    resourceCount: row.resource_count,
    latestChangeAt: row.latest_change_at,
    revision: BigInt(row.revision),
  },
  placementVersion: BigInt(row.placement_version),
  dropped: row.dropped,
});

export const createWorkspaceRecords = (database: Database): WorkspaceRecords => ({
  async ofWorkspaces(ids) {
    // index: workspace_state_pkey
    const rows = await database.query<RecordRow>(`${selectRecords} where workspace_id = any($1)`, [
      ids,
    ]);
    return rows.map(recordOf);
  },
  async recordsAfter(after, limit) {
    // index: workspace_state_pkey
    const rows = await database.query<RecordRow>(
      `${selectRecords} where workspace_id > $1 order by workspace_id limit $2`,
      [after, limit],
    );
    return rows.map(recordOf);
  },
});
