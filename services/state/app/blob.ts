import type { App } from "./app.ts";

/** The most keys that S3 deletes in one request. */
const BATCH = 1000;
const LEASE_MS = 5 * 60_000;

/**
 * Returns those of `keys` that a version refers to. Keys of recent attempts have no row yet, so check their age
 * first.
 */
export const ownedKeys = async (app: App, keys: readonly string[]): Promise<Set<string>> =>
  new Set(keys.length === 0 ? [] : await app.reads.blobs.listOwned(keys));

/** Takes a lease on some keys without references whose bytes must be deleted. */
export function claimBlobDeletions(app: App): Promise<string[]> {
  const now = app.now();
  return app.leases.blobDeletions.claim(now, new Date(now.getTime() + LEASE_MS), BATCH);
}

/**
 * Removes the rows of keys whose bytes are deleted. Keys that are not confirmed are claimed again after their lease.
 */
export const confirmBlobDeletions = async (app: App, keys: readonly string[]): Promise<void> => {
  if (keys.length > 0) await app.leases.blobDeletions.confirm(keys);
};
