import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One span that a service has exported. */
export interface ExportedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  /** The duration of the span in ms. */
  ms: number;
}

/** Receives the traces that services export, as an OpenTelemetry collector would. */
export interface TraceCollector extends AsyncDisposable {
  /** The URL to set as OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  spansOf(traceId: string): ExportedSpan[];
  /** Returns all exported spans as text. */
  text(): string;
}

type WireSpan = Omit<ExportedSpan, "service" | "ms"> &
  Record<"startTimeUnixNano" | "endTimeUnixNano", string>;

interface Export {
  resourceSpans?: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: WireSpan[] }[];
  }[];
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ExportedSpan[] = [];
  let text = "";
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    text += body;
    const { resourceSpans = [] }: Export = JSON.parse(body);
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.find(({ key }) => key === "service.name");
      const service = named?.value.stringValue ?? "";
      for (const { spans: exported } of scopeSpans) {
        for (const { name, traceId, spanId, parentSpanId, ...times } of exported) {
          const ms = Number(BigInt(times.endTimeUnixNano) - BigInt(times.startTimeUnixNano)) / 1e6;
          spans.push({ service, name, traceId, spanId, parentSpanId, ms });
        }
      }
    }
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spansOf: (traceId) => spans.filter((span) => span.traceId === traceId),
    text: () => text,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
