import { metrics, trace } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { serveMetricsFrom } from "./metrics.ts";
import { observeProcess } from "./process-metrics.ts";
import { recordSpans } from "./tracing.ts";

export interface TelemetryOptions {
  /** The name of the service in spans and metrics, for example "gateway". */
  service: string;
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts metrics, and also traces if OTEL_EXPORTER_OTLP_ENDPOINT is set. main.ts must call this first, because
 * instruments that were created earlier never record anything. Disposal sends the remaining spans, so it must be the
 * last step of the shutdown.
 */
export async function startTelemetry({
  service,
  env = process.env,
}: TelemetryOptions): Promise<AsyncDisposable> {
  const resource = defaultResource().merge(resourceFromAttributes({ "service.name": service }));
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ resource, readers: [reader] });
  metrics.setGlobalMeterProvider(meterProvider);
  const stack = new AsyncDisposableStack();
  const processMetrics = observeProcess();
  const serializer = new PrometheusSerializer();
  serveMetricsFrom(async () => serializer.serialize((await reader.collect()).resourceMetrics));

  stack.defer(async () => {
    serveMetricsFrom(undefined);
    processMetrics[Symbol.dispose]();
    metrics.disable();
    await meterProvider.shutdown();
  });
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) {
    // The exporter and its SDK are loaded only if needed, because they cost startup time.
    const [sdk, { OTLPTraceExporter }] = await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
    ]);
    const exporter = new OTLPTraceExporter();
    const provider = new sdk.TracerProvider({
      resource,
      sampler: new sdk.AlwaysOnSampler(),
      spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
    });
    trace.setGlobalTracerProvider(provider);
    recordSpans(true);
    stack.defer(async () => {
      recordSpans(false);
      trace.disable();
      await provider.shutdown();
    });
  }
  return stack;
}
