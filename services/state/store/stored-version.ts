import type { Database } from "@statehouse/postgres";
import { stateVersionNotFound } from "../domain/errors.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { StoredVersion } from "../domain/state-version.ts";
import type { WorkspaceStateView } from "../domain/workspace-state.ts";
import {
  isVisible,
  type WorkspaceStateRow,
  workspaceStateColumns,
  workspaceStateViewOf,
} from "./workspace-state.ts";

type StoredVersionJson = Omit<StoredVersion, "size" | "jsonSize"> & {
  size: number | null;
  jsonSize: number | null;
};

/**
 * SQL: a version as one JSON column (ADR 19). The query must name its tables `version` and `workspace`. Omits the
 * adjacent versions, and also resources, modules and providers, which can be large.
 */
const storedVersion = `json_build_object('id', version.id, 'workspaceId', version.workspace_id,
  'organizationId', coalesce(workspace.organization_id, ''),
  'projectId', coalesce(workspace.project_id, ''),
  'status', version.status, 'md5', version.md5, 'blobKey', version.blob_key,
  'size', version.size, 'sha256', version.sha256, 'jsonBlobKey', version.json_blob_key,
  'jsonSize', version.json_size, 'jsonSha256', version.json_sha256,
  'outputsGiven', version.outputs_given, 'resourcesProcessed', version.resources_processed)`;

const viewOf = ({ size, jsonSize, ...version }: StoredVersionJson): StoredVersion => ({
  ...version,
  size: size === null ? null : BigInt(size),
  jsonSize: jsonSize === null ? null : BigInt(jsonSize),
});

/** Reads of versions without the values that only their documents show, for requests for their contents and outputs. */
const reads = (database: Database) => ({
  async get(id: StateVersionId): Promise<StoredVersion> {
    // index: state_versions_pkey
    const [row] = await database.query<{ version: StoredVersionJson }>(
      `select ${storedVersion} as version
       from state_versions version join workspace_states workspace using (workspace_id)
       where version.id = $1 and ${isVisible}`,
      [id],
    );
    if (!row) throw stateVersionNotFound();
    return viewOf(row.version);
  },

  /** Returns the workspace's state and its current version, read in one statement. */
  async findCurrent(
    id: WorkspaceId,
  ): Promise<
    { workspaceState: WorkspaceStateView; version: StoredVersion | undefined } | undefined
  > {
    // index: workspace_states_pkey, state_versions_pkey
    const [row] = await database.query<WorkspaceStateRow & { version: StoredVersionJson | null }>(
      `select ${workspaceStateColumns},
         case when version.id is not null then ${storedVersion} end as version
       from workspace_states workspace
       left join state_versions version on version.id = workspace.current_version_id
       where workspace.workspace_id = $1`,
      [id],
    );
    if (!row) return undefined;
    return {
      workspaceState: workspaceStateViewOf(row),
      version: row.version && !row.dropped_at ? viewOf(row.version) : undefined,
    };
  },
});

export const storedVersions = { reads };
