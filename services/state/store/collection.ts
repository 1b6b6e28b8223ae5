import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { deleteOutputs } from "./outputs.ts";

/** Deletes versions with their outputs, in the transaction that holds their workspace. */
export async function removeVersions(
  em: EntityManager,
  workspaceId: WorkspaceId,
  limit: number,
): Promise<{ versions: number; blobKeys: string[] }> {
  const rows = await queryIn<{
    id: StateVersionId;
    blob_key: string | null;
    json_blob_key: string | null;
  }>(
    em,
    // index: state_version_position
    `select id, blob_key, json_blob_key from state_version
     where id = any(array(
       select id from state_version where workspace_id = $1 order by position limit $2))
     order by id for update`,
    [workspaceId, limit],
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) {
    await deleteOutputs(em, ids);
    // index: state_version_pkey
    await queryIn(em, "delete from state_version where id = any($1)", [ids]);
  }
  const keys = rows.flatMap((row) => [row.blob_key, row.json_blob_key]);
  return { versions: ids.length, blobKeys: keys.filter((key) => key !== null) };
}

/** Deletes the list of what a workspace manages. */
export async function removeResources(em: EntityManager, workspaceId: WorkspaceId): Promise<void> {
  // index: workspace_resource_pkey
  await queryIn(em, "delete from workspace_resource where workspace_id = $1", [workspaceId]);
}

/** Deletes the rows of versions whose contents and outputs are gone. */
export async function forgetVersions(
  em: EntityManager,
  ids: readonly StateVersionId[],
): Promise<void> {
  // index: state_version_pkey
  await queryIn(em, "delete from state_version where id = any($1)", [ids]);
}
