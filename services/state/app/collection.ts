import type { WorkspaceId } from "../domain/ids.ts";
import type { App } from "./app.ts";

const WORKSPACES = 20;
const VERSIONS = 50;

/** Removes rows of dropped workspaces and gives their blobs up for deletion. Answers whether there is more. */
export async function collectDroppedWorkspaces(app: App): Promise<boolean> {
  const dropped = await app.jobs.uncollectedWorkspaces(WORKSPACES);
  for (const workspaceId of dropped) await collectBatch(app, workspaceId);
  return dropped.length > 0;
}

/** One batch a transaction, so that nobody waits long; in the end only the bare tombstone remains. */
const collectBatch = (app: App, workspaceId: WorkspaceId): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.knownWorkspaceForUpdate(workspaceId);
    if (!workspace?.droppedAt || workspace.collectedAt) return;
    const now = app.now();
    const { versions, blobKeys } = await tx.removeVersions(workspaceId, VERSIONS);
    if (blobKeys.length > 0) {
      await tx.releaseBlobs(blobKeys, now);
      tx.afterCommit(app.wakes.deletion.wake);
    }
    if (versions === VERSIONS) return;
    await tx.removeResources(workspaceId);
    workspace.collectedAt = now;
  });
