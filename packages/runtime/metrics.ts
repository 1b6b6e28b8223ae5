let source: (() => Promise<string>) | undefined;

/** Told by startTelemetry where the numbers are. */
export function serveMetricsFrom(read: () => Promise<string>): void {
  source = read;
}

/** The process's metrics in Prometheus' text format. Empty until telemetry was started. */
export async function metricsText(): Promise<string> {
  return source ? source() : "";
}
