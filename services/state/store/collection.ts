import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";

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
    // index: state_version_output_position, state_version_pkey
    await queryIn(em, "delete from state_version_output where state_version_id = any($1)", [ids]);
    await queryIn(em, "delete from state_version where id = any($1)", [ids]);
  }
  const keys = rows.flatMap((row) => [row.blob_key, row.json_blob_key]);
  return { versions: ids.length, blobKeys: keys.filter((key) => key !== null) };
}
<<<<<<< HEAD
=======

/** Deletes the list of what a workspace manages. */
export const removeResources = (em: EntityManager, workspaceId: WorkspaceId): Promise<unknown> =>
  // index: workspace_resource_pkey
  queryIn(em, "delete from workspace_resource where workspace_id = $1", [workspaceId]);

/** Takes one reference off for each key, and gives blobs without any up for deletion. */
export async function releaseBlobs(
  em: EntityManager,
  keys: readonly string[],
  now: Date,
): Promise<void> {
  await queryIn(em, "select from blob where key = any($1) order by key for update", [keys]);
  await queryIn(
    em,
    // index: blob_pkey
    `update blob set "references" = "references" - gone.count
     from (select key, count(*) as count from unnest($1::text[]) as key group by key) gone
     where blob.key = gone.key`,
    [keys],
  );
  await queryIn(
    em,
    `with gone as (delete from blob where key = any($1) and "references" <= 0 returning key)
     insert into blob_deletions (key, due_at) select key, $2 from gone on conflict do nothing`,
    [keys, now],
  );
}
>>>>>>> 3059222 (List a workspace's resources, count what is billed, and let a killed reader's state wait seconds, not minutes)
