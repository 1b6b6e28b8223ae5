import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";

/** The current state version of a workspace. Digests are lower-case hex. */
export interface CurrentState {
  workspaceId: WorkspaceId;
  versionId: StateVersionId;
  serial: number;
  lineage: string;
  key: string;
  size: number;
  sha256: string;
  md5: string;
  createdAt: Date;
}

interface Row {
  workspace_id: WorkspaceId;
  id: StateVersionId;
  serial: number;
  lineage: string;
  blob_key: string;
  size: number;
  sha256: string;
  md5: string;
  created_at: Date;
}

const reads = (database: Database) => ({
  /** Returns the current states of the next workspaces, whose ids follow `after`, in the order of the ids. */
  async listAfter(after: string, limit: number): Promise<CurrentState[]> {
    const rows = await database.query<Row>(
      // index: workspace_states_pkey, state_versions_pkey
      `select w.workspace_id, v.id, v.serial, v.lineage, v.blob_key, v.size, v.sha256, v.md5, v.created_at
       from workspace_states w join state_versions v on v.id = w.current_version_id
       where w.workspace_id > $1 and w.dropped_at is null and v.blob_key is not null
       order by w.workspace_id limit $2`,
      [after, limit],
    );
    return rows.map(({ workspace_id: workspaceId, id, blob_key: key, ...row }) => ({
      workspaceId,
      versionId: id,
      key,
      serial: row.serial,
      lineage: row.lineage,
      size: row.size,
      sha256: row.sha256,
      md5: row.md5,
      createdAt: row.created_at,
    }));
  },

  async count(): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      `select count(*) as count from workspace_states
       where dropped_at is null and current_version_id is not null`,
    );
    return row?.count ?? 0;
  },
});

export const currentStates = { reads };

export type CurrentStateReads = ReturnType<typeof reads>;
