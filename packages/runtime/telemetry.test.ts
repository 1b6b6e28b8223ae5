import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { metrics } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { metricsText } from "./metrics.ts";
import { startTelemetry } from "./telemetry.ts";
import { spansAreRecorded, traceId, withServerSpan, withSpan } from "./tracing.ts";

test("with an endpoint, spans are exported as one trace; metrics have Prometheus format", async () => {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    bodies.push((await buffer(request)).toString("utf8"));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as AddressInfo;
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;

  const telemetry = await startTelemetry({ service: "gateway" });
  expect(spansAreRecorded()).toBe(true);
  metrics.getMeter("test").createCounter("cups").add(3);
  const ids = await withServerSpan("GET /workspaces/:id", undefined, {}, async () => {
    const outer = traceId();
    await expect(
      withSpan("inner", {}, async () => {
        expect(traceId()).toBe(outer);
        throw new TypeError("a secret value");
      }),
    ).rejects.toThrow();
    return outer;
  });
  expect(await metricsText()).toMatch(/^cups_total\{.*\} 3$/m);
  expect(await metricsText()).toMatch(/^statehouse_process_resident_memory_bytes\{.*\} \d+$/m);
  await telemetry[Symbol.asyncDispose]();
  await new Promise((resolve) => collector.close(resolve));

  const spans = bodies
    .map((body) => JSON.parse(body))
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(["GET /workspaces/:id", "inner"]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([ids]));
  expect(bodies.join()).not.toContain("a secret value");
});
