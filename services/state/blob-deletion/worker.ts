import { startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { claimBlobDeletions } from "../blob/app.ts";
import { listAsDeleted } from "../object/deleted-permanently-store.ts";
import type { BlobStore } from "../object/store.ts";

const INTERVAL_MS = 5_000;

/** Deletes the bytes of blobs without references until the worker is disposed. */
export const startBlobDeletion = (app: App, store: BlobStore): AsyncDisposable =>
  startLoop({
    name: "delete blobs",
    intervalMs: INTERVAL_MS,
    wake: app.wakes.blobDeletion,
    work: () => deleteBlobsOnce(app, store),
    logger: app.logger,
  });

/**
 * Deletes one batch of bytes. Returns false if no deletion was due. Keys whose deletion was not confirmed are claimed
 * again later.
 */
export async function deleteBlobsOnce(app: App, store: BlobStore): Promise<boolean> {
  const deletions = await claimBlobDeletions(app);
  if (deletions.length === 0) return false;
  const keys = deletions.map(({ key }) => key);
  const permanent = deletions.filter((deletion) => deletion.permanent).map(({ key }) => key);
  await listAsDeleted(store, permanent, app.now());
  await store.delete(keys);
  await app.leases.blobDeletions.confirm(keys);
  return true;
}
