import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "./store.ts";

// The list of permanently deleted contents is kept in the store, because a database restored from a backup does not
// contain the deletions made after the backup.
const PREFIX = "deleted-permanently/";
const never = new AbortController().signal;

/** Adds keys to the list of contents that an organization owner deleted permanently. */
export async function listAsDeleted(
  store: BlobStore,
  keys: readonly string[],
  at: Date,
): Promise<void> {
  const entry = Buffer.from(`${JSON.stringify({ listedAt: at.toISOString() })}\n`);
  const expected = { size: entry.length, md5: createHash("md5").update(entry).digest("hex") };
  for (const key of keys) {
    if (await isDeletedPermanently(store, key)) continue;
    await store.put(PREFIX + key, Readable.from([entry]), expected, never);
  }
}

export const isDeletedPermanently = async (store: BlobStore, key: string): Promise<boolean> =>
  (await store.sizeOf(PREFIX + key)) !== undefined;

/** Returns whether a key in the store is an entry of this list, and not the key of a blob. */
export const isListEntry = (key: string): boolean => key.startsWith(PREFIX);

/** Copies the list when contents move to another store. */
export async function copyList({ from, to }: { from: BlobStore; to: BlobStore }): Promise<void> {
  for await (const { key } of from.list({ after: PREFIX })) {
    if (!isListEntry(key)) return;
    await listAsDeleted(to, [key.slice(PREFIX.length)], new Date());
  }
}
