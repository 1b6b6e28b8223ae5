import { type Logger, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { ownedKeys } from "../app/blob.ts";
import { attemptStartedAt } from "../objects/blob-key.ts";
import type { BlobStore } from "../objects/blob-store.ts";

export interface SweeperOptions {
  app: App;
  store: BlobStore;
  logger: Logger;
  /** Between two scans of the whole store, in ms. */
  intervalMs?: number;
}

const BATCH = 500;
const MAX_INTERVAL_MS = 60 * 60_000;
const MIN_INTERVAL_MS = 500;

/** Deletes blobs that failed upload attempts left in the store, until it is disposed. */
export function startSweeper({ app, store, logger, intervalMs }: SweeperOptions): AsyncDisposable {
  const { sweepGraceMs } = app.settings;
  const quarter = Math.max(MIN_INTERVAL_MS, sweepGraceMs / 4);
  const stopping = new AbortController();
  const loop = startLoop({
    name: "sweep ownerless blobs",
    intervalMs: intervalMs ?? Math.min(quarter, MAX_INTERVAL_MS),
    work: async () => {
      const swept = await sweepOnce(app, store, stopping.signal);
      if (swept > 0) logger.info({ swept }, "ownerless blobs deleted");
      return false;
    },
    logger,
  });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await loop[Symbol.asyncDispose]();
    },
  };
}

/**
 * Scans the whole store once. Returns how many keys it deleted. It only deletes keys of attempts that are older than
 * the grace period: an upload commits within three quarters of that period, so an older key cannot get a row any
 * more. Any number of replicas may sweep concurrently. The first failed deletion is thrown at the end, after all
 * other keys were tried.
 */
export async function sweepOnce(
  app: App,
  store: BlobStore,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const before = app.now().getTime() - app.settings.sweepGraceMs;
  let swept = 0;
  let old: string[] = [];
  const failures: unknown[] = [];
  const sweep = async () => {
    const owned = await ownedKeys(app, old);
    const ownerless = old.filter((key) => !owned.has(key));
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
    if (startedAt && startedAt.getTime() < before && old.push(key) === BATCH) await sweep();
  }
  await sweep();
  if (failures.length > 0) throw failures[0];
  return swept;
}
