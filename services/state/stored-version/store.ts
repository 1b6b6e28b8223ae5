import type { Database } from "@statehouse/postgres";
import { stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId } from "../ids-domain.ts";
import type { StoredVersion } from "../state-version/domain.ts";
import { bigintOf } from "../state-version-document/store.ts";
import { isVisible } from "../workspace-state/store.ts";

/** The JSON that `storedVersion` selects. */
export type StoredVersionJson = Omit<StoredVersion, "size" | "jsonSize" | "expiresAt"> & {
  size: number | null;
  jsonSize: number | null;
  expiresAt: string;
};

/**
 * SQL: a version as one JSON column (ADR 19), without the values that only its document shows. The query must name its
 * tables `version` and `workspace`.
 */
export const storedVersion = `json_build_object('id', version.id, 'workspaceId', version.workspace_id,
  'organizationId', coalesce(workspace.organization_id, ''),
  'projectId', coalesce(workspace.project_id, ''),
  'status', version.status, 'expiresAt', version.expires_at, 'md5', version.md5,
  'blobKey', version.blob_key, 'size', version.size, 'sha256', version.sha256,
  'jsonBlobKey', version.json_blob_key, 'jsonSize', version.json_size,
  'jsonSha256', version.json_sha256, 'createdByType', version.created_by_type,
  'createdById', version.created_by_id, 'createdTokenId', version.created_token_id,
  'outputsGiven', version.outputs_given, 'resourcesProcessed', version.resources_processed)`;

export const storedVersionOf = ({
  size,
  jsonSize,
  expiresAt,
  ...version
}: StoredVersionJson): StoredVersion => ({
  ...version,
  size: bigintOf(size),
  jsonSize: bigintOf(jsonSize),
  expiresAt: new Date(expiresAt),
});

// index: state_versions_pkey
const selectStored = `
  select ${storedVersion} as version
  from state_versions version join workspace_states workspace using (workspace_id)
  where version.id = $1 and ${isVisible}`;

/** Reads of versions without the values that only their documents show, for requests that transfer contents or read
 * outputs. */
const reads = (database: Database) => ({
  async get(id: StateVersionId): Promise<StoredVersion> {
    const [row] = await database.query<{ version: StoredVersionJson }>(selectStored, [id]);
    if (!row) throw stateVersionNotFound();
    return storedVersionOf(row.version);
  },
});

export const storedVersions = { reads };
