import type { BlobDeletion } from "../store/blob-deletion.ts";
import type { Tx } from "../store/nouns.ts";
import type { App } from "./app.ts";

/** The most keys that S3 deletes in one request. */
const BATCH = 1000;
const LEASE_MS = 5 * 60_000;

/**
 * Returns those of `keys` that a version refers to, or that wait for their deletion. Keys of recent attempts have no
 * row yet, so check their age first.
 */
export const knownKeys = async (app: App, keys: readonly string[]): Promise<Set<string>> =>
  new Set(keys.length === 0 ? [] : await app.reads.contents.listKnownKeys(keys));

/**
 * Removes one reference for each key. Bytes without references are deleted after the delay, so that a database restored
 * from a backup finds them; `permanent`, at once.
 */
export async function releaseBlobs(
  app: App,
  tx: Tx,
  keys: readonly string[],
  { permanent = false } = {},
): Promise<void> {
  if (keys.length === 0) return;
  const delayMs = permanent ? 0 : app.settings.blobDeletionDelayMs;
  await tx.blobs.release(keys, { dueAt: new Date(app.now().getTime() + delayMs), permanent });
  if (delayMs === 0) tx.afterCommit(app.wakes.blobDeletion.wake);
}

/** Takes a lease on some keys without references whose bytes must be deleted. */
export function claimBlobDeletions(app: App): Promise<BlobDeletion[]> {
  const now = app.now();
  return app.leases.blobDeletions.claim(now, new Date(now.getTime() + LEASE_MS), BATCH);
}

/**
 * Removes the rows of keys whose bytes are deleted. Keys that are not confirmed are claimed again after their lease.
 */
export const confirmBlobDeletions = async (app: App, keys: readonly string[]): Promise<void> => {
  if (keys.length > 0) await app.leases.blobDeletions.confirm(keys);
};
