import { counterFromZero, startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { isDeletedPermanently } from "../object/deleted-permanently-store.ts";
import type { BlobStore } from "../object/store.ts";
import { scanGauges } from "../scan-gauges-worker.ts";
import { verifyNextPage } from "./verification-app.ts";

const MAX_INTERVAL_MS = 60_000;

/**
 * Compares the size of each blob in the store with its row, until the worker is disposed. Logs blobs that are missing
 * or have another size.
 */
export function startVerifier(app: App, store: BlobStore): AsyncDisposable {
  const { logger } = app;
  const lostBlobs = counterFromZero("statehouse/state", "statehouse_blobs_lost_total", {
    description:
      "Blobs whose bytes are missing in the store or have another size; counted by every scan",
  });
  const progress = scanGauges("verification");
  return startLoop({
    name: "verify blobs",
    intervalMs: Math.min(MAX_INTERVAL_MS, app.settings.verificationIntervalMs),
    work: async () => {
      const lost = await verifyNextPage(app, (key) => store.sizeOf(key));
      for (const { key, size, found } of lost ?? []) {
        if (found === undefined && (await isDeletedPermanently(store, key))) {
          logger.info({ key }, "blob missing as expected: it was deleted permanently");
          continue;
        }
        lostBlobs.add(1);
        const message = "blob missing or of another size in the store; restore it from a backup";
        logger.error({ key, size, found: found ?? "none" }, message);
      }
      progress(await app.reads.scans.getProgress("verification"));
      return lost !== undefined;
    },
    logger,
  });
}
