import type { Database } from "@statehouse/postgres";

/** Keys of blobs without references, whose bytes are to be deleted from the store. */
const leases = (database: Database) => ({
  /** Takes up to `limit` keys; no replica takes them again before `until`. */
  async claim(now: Date, until: Date, limit: number): Promise<string[]> {
    const rows = await database.query<{ key: string }>(
      // index: blob_deletions_due
      `update blob_deletions set due_at = $2 where key = any(array(
         select key from blob_deletions where due_at <= $1 order by due_at limit $3
         for update skip locked))
       returning key`,
      [now, until, limit],
    );
    return rows.map(({ key }) => key);
  },

  /** Removes the rows of keys whose bytes are deleted. */
  async confirm(keys: readonly string[]): Promise<void> {
    // index: blob_deletions_pkey
    await database.query("delete from blob_deletions where key = any($1)", [keys]);
  },
});

export const blobDeletions = { leases };
