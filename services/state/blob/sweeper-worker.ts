import { startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { keptUntil } from "../blob-deletion/domain.ts";
import { recordHeartbeat } from "../database-heartbeat/app.ts";
import { attemptStartedAt } from "../object/key-domain.ts";
import type { BlobStore } from "../object/store.ts";

const BATCH = 500;
const MAX_INTERVAL_MS = 60 * 60_000;
const MIN_INTERVAL_MS = 500;

/** Deletes blobs that failed upload attempts left in the store, until the worker is disposed. */
export function startSweeper(app: App, store: BlobStore): AsyncDisposable {
  const { logger, settings } = app;
  const quarter = Math.max(MIN_INTERVAL_MS, settings.sweepGraceMs / 4);
  return startLoop({
    name: "sweep ownerless blobs",
    intervalMs: Math.min(quarter, MAX_INTERVAL_MS),
    work: async (stop) => {
      const swept = await sweepOnce(app, store, stop);
      if (swept > 0) logger.info({ swept }, "ownerless blobs deleted");
      return false;
    },
    logger,
  });
}

/**
 * Scans the whole store once and deletes ownerless keys. Returns how many keys it deleted. Any number of replicas may
 * run it concurrently. After a failed deletion it tries all other keys, and then throws the first failure.
 *
 * A key without a row is deleted when both of these periods have passed:
 *
 * - The deletion delay. It starts with the upload, or with a later restore of the database that may have lost the row.
 * - The grace period. An upload commits within three quarters of it, so an older key can no longer get a row.
 */
export async function sweepOnce(
  app: App,
  store: BlobStore,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const now = app.now();
  let swept = 0;
  let old: { key: string; startedAt: Date }[] = [];
  const failures: unknown[] = [];
  const sweep = async () => {
    const known = new Set(await app.reads.contents.listKnownKeys(old.map(({ key }) => key)));
    // Interruptions are read after the rows, because the database may have been restored during the scan.
    const interruptions = await recordHeartbeat(app);
    const ownerless = old
      .filter(({ key }) => !known.has(key))
      .filter(({ startedAt }) => keptUntil(startedAt, interruptions, app.settings) < now)
      .map(({ key }) => key);
    old = [];
    try {
      await store.delete(ownerless);
      swept += ownerless.length;
    } catch (error) {
      failures.push(error);
    }
  };
  for await (const { key } of store.list()) {
    if (signal.aborted) return swept;
    const startedAt = attemptStartedAt(key);
    if (!startedAt || keptUntil(startedAt, [], app.settings) >= now) continue;
    if (old.push({ key, startedAt }) === BATCH) await sweep();
  }
  await sweep();
  if (failures.length > 0) throw failures[0];
  return swept;
}
