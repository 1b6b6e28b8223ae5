let source: (() => Promise<string>) | undefined;

/**
 * Sets the function that `metricsText` calls, or removes it. `startTelemetry` sets the function; the disposal of
 * telemetry removes it.
 */
export function serveMetricsFrom(read: (() => Promise<string>) | undefined): void {
  source = read;
}

/** Returns the process's metrics in Prometheus' text format; empty unless telemetry is started. */
export async function metricsText(): Promise<string> {
  return source ? source() : "";
}
