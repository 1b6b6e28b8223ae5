import type { App } from "../app.ts";
import type { BlobDeletion } from "../blob-deletion/store.ts";
import type { Tx } from "../nouns.ts";

/** The largest number of keys that S3 deletes in one request. */
const BATCH = 1000;
const LEASE_MS = 5 * 60_000;

/**
 * Removes one reference for each key. Bytes without references are deleted only after `blobDeletionDelayMs`, because a
 * database restored from a backup may refer to them again. With `permanent` they are deleted at once.
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

/** Claims, with a lease, some keys without references whose deletion is due. */
export function claimBlobDeletions(app: App): Promise<BlobDeletion[]> {
  const now = app.now();
  return app.leases.blobDeletions.claim(now, new Date(now.getTime() + LEASE_MS), BATCH);
}
