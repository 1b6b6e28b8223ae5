import type { Database, Sealer } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersionView } from "../domain/state-version-view.ts";
import { createOutputReads, type OutputReads } from "./output-reads.ts";
import { type Slice, totalOf } from "./slice.ts";
import { type StateVersionRow, stateVersionColumns, viewOf } from "./state-version-row.ts";
import { undropped } from "./undropped.ts";
import { createWorkspaceRecords, type WorkspaceRecords } from "./workspace-records.ts";
import { createResourceReads, type ResourceReads } from "./workspace-resources.ts";

/** A workspace as reads see it. */
export interface WorkspaceView {
  workspaceId: WorkspaceId;
  organizationId: string | null;
  projectId: string | null;
  currentVersionId: StateVersionId | null;
  droppedAt: Date | null;
}

/** Single statements outside any transaction. Nothing of a dropped workspace is ever read. */
export interface Reads extends OutputReads, ResourceReads, WorkspaceRecords {
  workspace(id: WorkspaceId): Promise<WorkspaceView | undefined>;
  /** The workspace and its current version, in one statement. */
  currentVersion(
    id: WorkspaceId,
  ): Promise<{ workspace: WorkspaceView; version: StateVersionView | undefined } | undefined>;
  version(id: StateVersionId): Promise<StateVersionView | undefined>;
  versions(ids: readonly StateVersionId[]): Promise<StateVersionView[]>;
  /** Newest first. `status` undefined: all. */
  listVersions(
    id: WorkspaceId,
    status: string | undefined,
    slice: Slice,
  ): Promise<{ versions: StateVersionView[]; total: number }>;
}

interface WorkspaceRow {
  workspace_id: WorkspaceId;
  organization_id: string | null;
  project_id: string | null;
  current_version_id: StateVersionId | null;
  dropped_at: Date | null;
}

const workspaceView = (row: WorkspaceRow): WorkspaceView => ({
  workspaceId: row.workspace_id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  currentVersionId: row.current_version_id,
  droppedAt: row.dropped_at,
});

const workspaceColumns = `workspace.workspace_id, workspace.organization_id, workspace.project_id,
  workspace.current_version_id, workspace.dropped_at`;

/** From a statement of `version` and `workspace`. */
const versionsFrom = `select ${stateVersionColumns}, ${workspaceColumns}
  from state_version version join workspace_state workspace using (workspace_id)`;

export function createReads(database: Database, sealer: Sealer): Reads {
  return {
    ...createOutputReads(database, sealer),
    ...createResourceReads(database),
    ...createWorkspaceRecords(database),
    async workspace(id) {
      // index: workspace_state_pkey
      const [row] = await database.query<WorkspaceRow>(
        `select ${workspaceColumns} from workspace_state workspace where workspace_id = $1`,
        [id],
      );
      return row && workspaceView(row);
    },
    async currentVersion(id) {
      // index: workspace_state_pkey, state_version_pkey
      const [row] = await database.query<WorkspaceRow & (StateVersionRow | { id: null })>(
        `select ${stateVersionColumns}, ${workspaceColumns}
         from workspace_state workspace
         left join state_version version on version.id = workspace.current_version_id
         where workspace.workspace_id = $1`,
        [id],
      );
      if (!row) return undefined;
      return {
        workspace: workspaceView(row),
        version: row.id === null || row.dropped_at ? undefined : viewOf(row),
      };
    },
    async version(id) {
      // index: state_version_pkey
      const [row] = await database.query<StateVersionRow>(
        `${versionsFrom} where version.id = $1 and ${undropped}`,
        [id],
      );
      return row && viewOf(row);
    },
    async versions(ids) {
      // index: state_version_pkey
      const rows = await database.query<StateVersionRow>(
        `${versionsFrom} where version.id = any($1) and ${undropped}`,
        [ids],
      );
      return rows.map(viewOf);
    },
    async listVersions(id, status, { limit, offset }) {
      const condition = status === undefined ? "" : "and version.status = $4";
      const filters = status === undefined ? [] : [status];
      // index: state_version_position, state_version_status
      const rows = await database.query<StateVersionRow>(
        `${versionsFrom} where version.workspace_id = $1 and ${undropped} ${condition}
         order by version.position desc limit $2 offset $3`,
        [id, limit, offset, ...filters],
      );
      const total = await totalOf(rows.length, { limit, offset }, async () => {
        const [row] = await database.query<{ total: number }>(
          // index: state_version_count_pkey
          `select coalesce(sum(count), 0)::int as total from state_version_count
           where workspace_id = $1 ${status === undefined ? "" : "and status = $2"}`,
          [id, ...filters],
        );
        return row?.total ?? 0;
      });
      return { versions: rows.map(viewOf), total };
    },
  };
}
