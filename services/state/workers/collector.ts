import { metrics } from "@opentelemetry/api";
import { type Logger, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { collectNextPage } from "../app/collection-pass.ts";
import type { Collecting } from "../app/retention-collection.ts";
import { passGauges } from "./pass-gauges.ts";

const LONGEST_LOOK_MS = 30_000;

/** Deletes what data retention lets go, until it is disposed. */
export function startCollector({ app, logger }: { app: App; logger: Logger }): AsyncDisposable {
  const counted = collectionMetrics();
  const progress = passGauges("retention");
  return startLoop({
    name: "collect by retention",
    intervalMs: Math.min(LONGEST_LOOK_MS, app.settings.collectionIntervalMs),
    work: async () => {
      let collected = 0;
      const more = await collectNextPage(app, (batch, kept) => {
        collected += batch.length;
        counted(batch, kept);
      });
      if (collected > 0) logger.info({ collected }, "state versions were deleted by retention");
      progress(await app.passes.progress("retention"));
      return more;
    },
    logger,
  });
}

function collectionMetrics(): Collecting["onBatch"] {
  const meter = metrics.getMeter("statehouse/state");
  const versions = meter.createCounter("state_versions_collected", {
    description: "Versions whose contents retention let go",
  });
  const bytes = meter.createCounter("state_bytes_collected", {
    description: "Bytes of raw state of those",
  });
  const kept = meter.createCounter("state_versions_not_collected", {
    description: "Versions that looked due and were kept, by the reason",
  });
  return (collected, reasons) => {
    for (const { rule, bytes: size } of collected) {
      versions.add(1, { rule });
      bytes.add(size, { rule });
    }
    for (const reason of reasons) kept.add(1, { reason });
  };
}
