import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { awaitsContent, discard } from "../domain/state-version.ts";
import { touch } from "../domain/workspace-state.ts";
import type { App } from "./app.ts";
import { emptyDiscarded } from "./discarded-version.ts";

const BATCH = 100;

/** Discards pending versions whose window is over. Answers how many it found. */
export async function discardExpiredVersions(app: App): Promise<number> {
  const expired = await app.jobs.expiredVersions(app.now(), BATCH);
  for (const version of expired) await discardExpired(app, version);
  return expired.length;
}

const discardExpired = (
  app: App,
  { id, workspaceId }: { id: StateVersionId; workspaceId: WorkspaceId },
): Promise<void> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspace = await tx.knownWorkspaceForUpdate(workspaceId);
    const version = await tx.versionForUpdate(id);
    // Another replica, an upload or the collector may have been first.
    if (!workspace || version?.status !== "pending" || awaitsContent(version, now)) return;
    discard(version);
    touch(workspace, now);
    await emptyDiscarded(app, tx, workspace, [version]);
  });
