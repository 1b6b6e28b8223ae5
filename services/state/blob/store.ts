import { EntitySchema } from "@mikro-orm/core";
import { type Database, type EntityManager, queryIn, recordsOf } from "@statehouse/postgres";
import { bigint, integer, primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import { Blob } from "./domain.ts";

const entity = new EntitySchema({
  class: Blob,
  tableName: "blobs",
  properties: {
    key: primaryKey,
    workspaceId: text,
    size: bigint,
    sha256: text,
    references: integer,
    createdAt: timestamptz,
  },
});

/** Locks the blobs, so that no other transaction adds or removes references before this transaction ends. */
const lockBlobs = (em: EntityManager, keys: readonly string[]) =>
  queryIn(em, "select from blobs where key = any($1) order by key for update", [keys]);

const countReferences = (em: EntityManager, keys: readonly string[], each: 1 | -1) =>
  queryIn(
    em,
    // index: blobs_pkey
    `update blobs blob set "references" = "references" + $2 * given.count
     from (select key, count(*) as count from unnest($1::text[]) as key group by key) given
     where blob.key = given.key`,
    [keys, each],
  );

/** Adds one reference for each key. The transaction must have locked the workspace whose versions refer to the keys. */
export async function shareBlobs(em: EntityManager, keys: readonly string[]): Promise<void> {
  await lockBlobs(em, keys);
  await countReferences(em, keys, 1);
}

/** When the bytes of released blobs must be deleted, and whether an organization owner deleted them permanently. */
export interface BlobRelease {
  dueAt: Date;
  permanent: boolean;
}

const rows = (em: EntityManager) => ({
  save: recordsOf(em, entity, () => new Error("The blob does not exist")).save,

  async lock(keys: readonly string[]): Promise<void> {
    await lockBlobs(em, keys);
  },

  /**
   * Removes one reference for each key. The transaction must have locked the workspace whose versions referred to the
   * keys. Deletes the rows of blobs that have no references left, and schedules the deletion of their bytes for
   * `dueAt`.
   */
  async release(keys: readonly string[], { dueAt, permanent }: BlobRelease): Promise<void> {
    await lockBlobs(em, keys);
    await countReferences(em, keys, -1);
    await queryIn(
      em,
      // index: blobs_pkey
      `with gone as (delete from blobs where key = any($1) and "references" <= 0 returning key)
       insert into blob_deletions (key, due_at, permanent) select key, $2, $3 from gone
       on conflict do nothing`,
      [keys, dueAt, permanent],
    );
  },
});

/** A blob to which versions refer. The sha256 is lower-case hex. */
export interface OwnedBlob {
  key: string;
  size: number;
  sha256: string;
}

const reads = (database: Database) => ({
  /** Returns the keys among `keys` to which a version refers. */
  async listOwned(keys: readonly string[]): Promise<string[]> {
    // index: blobs_pkey
    const rows = await database.query<{ key: string }>(
      "select key from blobs where key = any($1)",
      [keys],
    );
    return rows.map(({ key }) => key);
  },

  /** Returns the blobs to which versions refer and whose keys follow `after`, in this database's sort order. */
  listAfter: (after: string, limit: number): Promise<OwnedBlob[]> =>
    // index: blobs_pkey
    database.query("select key, size, sha256 from blobs where key > $1 order by key limit $2", [
      after,
      limit,
    ]),

  async count(): Promise<number> {
    const [row] = await database.query<{ count: number }>("select count(*) as count from blobs");
    return row?.count ?? 0;
  },
});

export const blobs = { entity, rows, reads };
