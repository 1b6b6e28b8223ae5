import { isBlobMissing } from "./errors-store.ts";
import type { BlobStore } from "./store.ts";

/**
 * Combines two stores during a move. New blobs are written to `to`, blobs that are missing there are read from `from`,
 * and deletions apply to both. A key has the same bytes in both stores.
 */
export const movingStore = ({ to, from }: { to: BlobStore; from: BlobStore }): BlobStore => ({
  put: (key, body, expected, signal) => to.put(key, body, expected, signal),
  async get(key, open, signal, range) {
    try {
      await to.get(key, open, signal, range);
    } catch (error) {
      // `blobMissing` is thrown before anything is sent, so reading from `from` is safe.
      if (!isBlobMissing(error)) throw error;
      await from.get(key, open, signal, range);
    }
  },
  sizeOf: async (key) => (await to.sizeOf(key)) ?? from.sizeOf(key),
  async delete(keys) {
    await from.delete(keys);
    await to.delete(keys);
  },
  list: (after) => merged(to.list(after), from.list(after)),
  async ready() {
    await to.ready();
    await from.ready();
  },
  async [Symbol.asyncDispose]() {
    await using _to = to;
    await using _from = from;
  },
});

/** Merges both listings in one order; a key that is in both stores is listed once. */
async function* merged(
  one: ReturnType<BlobStore["list"]>,
  other: ReturnType<BlobStore["list"]>,
): ReturnType<BlobStore["list"]> {
  await using _one = one;
  await using _other = other;
  let [a, b] = [await one.next(), await other.next()];
  while (!a.done || !b.done) {
    if (!a.done && (b.done || a.value.key <= b.value.key)) {
      if (!b.done && a.value.key === b.value.key) b = await other.next();
      yield a.value;
      a = await one.next();
    } else if (!b.done) {
      yield b.value;
      b = await other.next();
    }
  }
}
