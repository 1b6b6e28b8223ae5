import { metrics } from "@opentelemetry/api";
import { type Logger, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { verifyNextPage } from "../app/verification-pass.ts";
import type { BlobStore } from "../objects/blob-store.ts";
import { passGauges } from "./pass-gauges.ts";

const LONGEST_LOOK_MS = 60_000;

/** Looks again and again whether the bytes of every row are in the store, and says loudly which are not. */
export function startVerifier({
  app,
  store,
  logger,
}: {
  app: App;
  store: BlobStore;
  logger: Logger;
}): AsyncDisposable {
  const meter = metrics.getMeter("statehouse/state");
  const lostBlobs = meter.createCounter("blobs_lost", {
    description: "Rows whose bytes the store has not got, or not all of; again with every pass",
  });
  const progress = passGauges("verification");
  return startLoop({
    name: "verify blobs",
    intervalMs: Math.min(LONGEST_LOOK_MS, app.settings.verificationIntervalMs),
    work: async () => {
      const lost = await verifyNextPage(app, (key) => store.sizeOf(key));
      for (const { key, size, found } of lost ?? []) {
        lostBlobs.add(1);
        const what = "the bytes of a state are not in the store: restore them from a backup";
        logger.error({ key, size, found: found ?? "none" }, what);
      }
      progress(await app.passes.progress("verification"));
      return lost !== undefined;
    },
    logger,
  });
}
