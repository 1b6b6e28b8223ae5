let source: (() => Promise<string>) | undefined;

/** Sets the source of `metricsText`. startTelemetry calls it, and its disposal passes undefined. */
export function serveMetricsFrom(read: (() => Promise<string>) | undefined): void {
  source = read;
}

/** The process's metrics in Prometheus' text format. Empty unless telemetry is started. */
export async function metricsText(): Promise<string> {
  return source ? source() : "";
}
