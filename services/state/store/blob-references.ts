import { type EntityManager, queryIn } from "@statehouse/postgres";

// Both in the transaction that holds the workspace whose versions refer to the blobs.

/** Adds one reference for each key. */
export async function shareBlobs(em: EntityManager, keys: readonly string[]): Promise<void> {
  await holdBlobs(em, keys);
  await countReferences(em, keys, 1);
}

/** Takes one reference off for each key, and gives blobs without any up for deletion. */
export async function releaseBlobs(
  em: EntityManager,
  keys: readonly string[],
  now: Date,
): Promise<void> {
  await holdBlobs(em, keys);
  await countReferences(em, keys, -1);
  await queryIn(
    em,
    `with gone as (delete from blob where key = any($1) and "references" <= 0 returning key)
     insert into blob_deletions (key, due_at) select key, $2 from gone on conflict do nothing`,
    [keys, now],
  );
}

/** Holds the blobs' rows until the transaction ends; nobody adds or takes a reference meanwhile. */
export const holdBlobs = (em: EntityManager, keys: readonly string[]) =>
  queryIn(em, "select from blob where key = any($1) order by key for update", [keys]);

const countReferences = (em: EntityManager, keys: readonly string[], each: 1 | -1) =>
  queryIn(
    em,
    // index: blob_pkey
    `update blob set "references" = "references" + $2 * given.count
     from (select key, count(*) as count from unnest($1::text[]) as key group by key) given
     where blob.key = given.key`,
    [keys, each],
  );
