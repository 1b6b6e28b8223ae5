import type { App } from "../app.ts";
import { PAGE, runScanPage } from "../scan-app.ts";
import { type Collection, collectWorkspaces } from "./app.ts";

const MAX_RETRY_MS = 30_000;

/**
 * Raises the retention version: responses of `batchGetRetention` with a version lower than `version` can no longer be
 * used. Waits for the transactions that use such a response.
 */
export const raiseRetentionVersion = (app: App, version: bigint): Promise<void> =>
  app.transaction((tx) => tx.retention.raiseVersion(version));

/**
 * Applies retention to the next page of workspaces. Returns false if no page is due, or if another replica holds the
 * page. Throws `unavailable` if the workspaces service is unavailable; the page is then repeated, and deletions that
 * were committed remain.
 */
export function collectNextPage(app: App, onBatch: Collection["onBatch"]): Promise<boolean> {
  const intervalMs = app.settings.collectionIntervalMs;
  const retryMs = Math.min(MAX_RETRY_MS, intervalMs);
  return runScanPage(app, { name: "retention", intervalMs, retryMs }, async ({ after, keep }) => {
    const ids = await app.reads.workspaceStates.listWithCurrentVersionAfter(after, PAGE);
    const tally = { seen: ids.length, found: 0, bytes: 0 };
    if (ids.length > 0) {
      await collectWorkspaces(app, ids, {
        async onBatch(collected, kept) {
          tally.found += collected.length;
          tally.bytes += collected.reduce((sum, { bytes }) => sum + bytes, 0);
          await onBatch(collected, kept);
          await keep();
        },
      });
    }
    return { ids, tally };
  });
}

/** Applies retention to all workspaces now, independently of the scans. */
export async function collectEverything(app: App, collection: Collection): Promise<void> {
  for (let after = ""; ; ) {
    const ids = await app.reads.workspaceStates.listWithCurrentVersionAfter(after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return;
    await collectWorkspaces(app, ids, collection);
    after = last;
  }
}
