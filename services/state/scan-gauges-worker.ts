import { metrics } from "@opentelemetry/api";
import type { ScanName, ScanProgress } from "./scan-store.ts";

/**
 * Creates gauges for the progress of a scan, which can run on any replica. Call the returned function with the current
 * progress.
 */
export function scanGauges(scan: ScanName): (progress: ScanProgress) => void {
  const meter = metrics.getMeter("statehouse/state");
  let last: ScanProgress | undefined;
  const gauge = (name: string, description: string, value: (of: ScanProgress) => number) =>
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      if (last) result.observe(value(last), { scan });
    });
  gauge("statehouse_scan_seen", "Rows that the current scan has read", ({ seen }) => seen);
  gauge(
    "statehouse_scan_found",
    "State versions that the current scan deleted, or blobs that it found lost",
    ({ found }) => found,
  );
  gauge(
    "statehouse_scan_age_seconds",
    "Time since the last complete scan ended",
    ({ finishedAt }) => (finishedAt ? (Date.now() - finishedAt.getTime()) / 1000 : Number.NaN),
  );
  return (progress) => {
    last = progress;
  };
}
