import { counterFromZero, startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { scanGauges } from "../scan-gauges-worker.ts";
import { type Collection, keptReasons } from "./app.ts";
import { retentionRules } from "./domain.ts";
import { collectNextPage } from "./scan-app.ts";

const MAX_INTERVAL_MS = 30_000;

/** Applies the retention rules of the edition to state versions until the worker is disposed. */
export function startCollector(app: App): AsyncDisposable {
  const { logger } = app;
  const counted = collectionMetrics();
  const progress = scanGauges("retention");
  return startLoop({
    name: "collect by retention",
    intervalMs: Math.min(MAX_INTERVAL_MS, app.settings.collectionIntervalMs),
    work: async () => {
      let collected = 0;
      const ran = await collectNextPage(app, (batch, kept) => {
        collected += batch.length;
        counted(batch, kept);
      });
      if (collected > 0) logger.info({ collected }, "state versions deleted by retention");
      progress(await app.reads.scans.getProgress("retention"));
      return ran;
    },
    logger,
  });
}

function collectionMetrics(): Collection["onBatch"] {
  const scope = "statehouse/state";
  const rules = retentionRules.map((rule) => ({ rule }));
  const versions = counterFromZero(scope, "statehouse_state_versions_collected_total", {
    description: "State versions whose contents were deleted by retention",
    series: rules,
  });
  const bytes = counterFromZero(scope, "statehouse_state_collected_bytes_total", {
    description: "Bytes of raw state of the collected state versions",
    series: rules,
  });
  const kept = counterFromZero(scope, "statehouse_state_versions_retained_total", {
    description: "State versions that were due and are retained, by reason",
    series: keptReasons.map((reason) => ({ reason })),
  });
  return (collected, reasons) => {
    for (const { rule, bytes: size } of collected) {
      versions.add(1, { rule });
      bytes.add(size, { rule });
    }
    for (const reason of reasons) kept.add(1, { reason });
  };
}
