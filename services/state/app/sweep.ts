import type { App } from "./app.ts";

/** As many as S3 takes in one request. */
const BATCH = 1000;
const LEASE_MS = 5 * 60_000;

/** Those of `keys` that a version refers to. Keys of young attempts have no owner yet: sweep by age. */
export const isOwned = async (app: App, keys: readonly string[]): Promise<Set<string>> =>
  new Set(keys.length === 0 ? [] : await app.jobs.ownedBlobs(keys));

/** Takes some keys whose last reference is gone, for a few minutes; their bytes are to be deleted. */
export function takeBlobDeletions(app: App): Promise<string[]> {
  const now = app.now();
  return app.jobs.takeBlobDeletions(now, new Date(now.getTime() + LEASE_MS), BATCH);
}

/** Forgets keys whose bytes are deleted; those not confirmed are handed out again. */
export const confirmBlobDeletions = async (app: App, keys: readonly string[]): Promise<void> => {
  if (keys.length > 0) await app.jobs.confirmBlobDeletions(keys);
};
