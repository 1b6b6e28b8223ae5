import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { App } from "./app.ts";
import { permanentlyDelete } from "./backing-data.ts";

const BATCH = 100;

/** Deletes for good what was soft-deleted so long ago that nobody restores it. Answers how many it found. */
export async function deleteExpiredBackingData(app: App): Promise<number> {
  const before = new Date(app.now().getTime() - app.settings.softDeletionMs);
  const expired = await app.jobs.softDeletedVersions(before, BATCH);
  for (const version of expired) await deleteExpired(app, version, before);
  return expired.length;
}

const deleteExpired = (
  app: App,
  { id, workspaceId }: { id: StateVersionId; workspaceId: WorkspaceId },
  before: Date,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.knownWorkspaceForUpdate(workspaceId);
    const version = workspace && (await tx.versionForUpdate(id));
    // Another replica, a restoration, which may have begun a new time, or the collector may have been first.
    if (!workspace || !version?.softDeletedAt || version.softDeletedAt > before) return;
    await permanentlyDelete(app, tx, { workspace, version });
  });
