import { metrics, trace } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { serveMetricsFrom } from "./metrics.ts";
import { recordSpans } from "./tracing.ts";

export interface TelemetryOptions {
  /** The name of the service in spans and metrics, for example "gateway". */
  service: string;
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts metrics, and also traces if OTEL_EXPORTER_OTLP_ENDPOINT is set. main.ts must call this first, because
 * instruments that were created earlier never record anything. Disposal flushes, so it must come last.
 */
export async function startTelemetry({
  service,
  env = process.env,
}: TelemetryOptions): Promise<AsyncDisposable> {
  const resource = defaultResource().merge(resourceFromAttributes({ "service.name": service }));
  const reader = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ resource, readers: [reader] });
  metrics.setGlobalMeterProvider(meterProvider);
  observeProcess();
  const serializer = new PrometheusSerializer();
  serveMetricsFrom(async () => serializer.serialize((await reader.collect()).resourceMetrics));

  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    serveMetricsFrom(undefined);
    metrics.disable();
    await meterProvider.shutdown();
  });
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) {
    // Loaded only if needed, because the exporter and its SDK cost startup time that most processes can avoid.
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

function observeProcess(): void {
  const meter = metrics.getMeter("statehouse/process");
  meter
    .createObservableGauge("statehouse_process_resident_memory_bytes")
    .addCallback((result) => result.observe(process.memoryUsage.rss()));
  meter
    .createObservableGauge("statehouse_process_uptime_seconds")
    .addCallback((result) => result.observe(process.uptime()));
}
