import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";

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

const reads = (database: Database) => ({
  /** Returns the current states of the next workspaces, whose ids follow `after`, in the order of the ids. */
  listAfter: (after: string, limit: number): Promise<CurrentState[]> =>
    database.query(
      // index: workspace_states_pkey, state_versions_pkey
      `select w.workspace_id as "workspaceId", v.id as "versionId", v.serial, v.lineage,
         v.blob_key as key, v.size, v.sha256, v.md5, v.created_at as "createdAt"
       from workspace_states w join state_versions v on v.id = w.current_version_id
       where w.workspace_id > $1 and w.dropped_at is null and v.blob_key is not null
       order by w.workspace_id limit $2`,
      [after, limit],
    ),

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
