import type { App } from "./app.ts";
import { PAGE, takePage } from "./pass.ts";
import { type Collecting, collectWorkspaces } from "./retention-collection.ts";

const LONGEST_RETRY_MS = 30_000;

/**
 * Goes through the next page of workspaces, whichever replica does it; says whether one was due. Throws
 * `unavailable` without workspaces' answer; the page is then taken again, and what was collected stays so.
 */
export function collectNextPage(app: App, onBatch: Collecting["onBatch"]): Promise<boolean> {
  const intervalMs = app.settings.collectionIntervalMs;
  const retryMs = Math.min(LONGEST_RETRY_MS, intervalMs);
  return takePage(app, { name: "retention", intervalMs, retryMs }, async ({ after, keep }) => {
    const ids = await app.retention.workspacesAfter(after, PAGE);
    const done = { seen: ids.length, found: 0, bytes: 0 };
    if (ids.length > 0) {
      await collectWorkspaces(app, ids, {
        async onBatch(collected, kept) {
          done.found += collected.length;
          done.bytes += collected.reduce((sum, { bytes }) => sum + bytes, 0);
          await onBatch(collected, kept);
          await keep();
        },
      });
    }
    return { last: ids.at(-1), isFull: ids.length === PAGE, done };
  });
}

/** Goes through all workspaces now, beside what the replicas do by themselves. */
export async function collectEverything(app: App, collecting: Collecting): Promise<void> {
  for (let after = ""; ; ) {
    const ids = await app.retention.workspacesAfter(after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return;
    await collectWorkspaces(app, ids, collecting);
    after = last;
  }
}
