import type { Database } from "@statehouse/postgres";

/** A key without references, whose bytes are due for deletion. */
export interface BlobDeletion {
  key: string;
  /** Whether an organization owner deleted the bytes permanently. */
  permanent: boolean;
}

/** Leases for the keys of blobs without references, whose bytes must be deleted from the store. */
const leases = (database: Database) => ({
  /** Claims up to `limit` keys whose deletion is due. No replica claims them again before `until`. */
  claim(now: Date, until: Date, limit: number): Promise<BlobDeletion[]> {
    return database.query<BlobDeletion>(
      // index: blob_deletions_due
      `update blob_deletions set due_at = $2 where key = any(array(
         select key from blob_deletions where due_at <= $1 order by due_at limit $3
         for update skip locked))
       returning key, permanent`,
      [now, until, limit],
    );
  },

  /** Removes the rows of keys whose bytes have been deleted. */
  async confirm(keys: readonly string[]): Promise<void> {
    // index: blob_deletions_pkey
    await database.query("delete from blob_deletions where key = any($1)", [keys]);
  },
});

export const blobDeletions = { leases };
