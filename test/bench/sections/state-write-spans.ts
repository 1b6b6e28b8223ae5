import { randomBytes, randomUUID } from "node:crypto";
import { waitFor } from "@statehouse/testing";
import { startProcesses } from "../../stack/stack.ts";
import { type ExportedSpan, startTraceCollector } from "../../stack/traces.ts";
import { contentOf } from "../bytes/content.ts";
import { startWriters, type WriteTimes } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { print, printTable } from "../table.ts";

const WARM_UP = 20;
const WRITES = 40;
/** Spans shorter than this, in ms, are combined into one row. */
const SMALL = 0.1;

/** Prints how a small write by one client spends its time, according to the spans that the services record. */
export async function printWhereTimeGoes(bytes: number): Promise<void> {
  await using collector = await startTraceCollector();
  await using stack = await startProcesses({
    blobs: "minio",
    settings: {
      LOG_LEVEL: "warn",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRUSTED_PROXIES: "127.0.0.1",
      OTEL_BSP_SCHEDULE_DELAY: "200",
    },
  });
  const [writer] = await startWriters(stack, 1);
  if (!writer) return;
  const content = contentOf(bytes, randomUUID());
  const times: WriteTimes[] = [];
  const traces: string[] = [];
  for (let index = 0; index < WARM_UP + WRITES; index++) {
    const trace = randomBytes(16).toString("hex");
    const headers = { traceparent: `00-${trace}-${randomBytes(8).toString("hex")}-01` };
    const time = await writer.write(content, headers);
    if (index < WARM_UP) continue;
    times.push(time);
    traces.push(trace);
  }
  const last = traces.at(-1) ?? "";
  const currents = () => collector.spansOf(last).filter(({ name }) => name.startsWith("GET "));
  await waitFor(() => currents().length > 0, { timeout: 30_000, what: "the last spans" });
  const own = new Map<string, number>();
  for (const trace of traces) {
    for (const [name, ms] of ownTimes(collector.spansOf(trace))) {
      own.set(name, (own.get(name) ?? 0) + ms / traces.length);
    }
  }
  const rows = [...own].toSorted(([, a], [, b]) => b - a);
  const large = rows.filter(([, ms]) => ms >= SMALL);
  const rest = rows.slice(large.length).reduce((sum, [, ms]) => sum + ms, 0);
  printTable(
    "    where the milliseconds of one write of 10 KiB go: each span without those below it",
    ["service", "span", "ms"],
    [...large, ["all others", rest] as const].map(([name, ms]) => {
      const [service = "", ...span] = name.split(" ");
      return [service, span.join(" "), ms];
    }),
  );
  const seen = rows.reduce((sum, [, ms]) => sum + ms, 0);
  const part = (what: keyof WriteTimes) => median(times.map((time) => time[what]));
  const all = part("create") + part("upload") + part("current");
  print(
    `    in all ${all.toFixed(1)} ms (create ${part("create").toFixed(1)}, upload ${part("upload").toFixed(1)}, current ${part("current").toFixed(1)}), ${(all - seen).toFixed(1)} of them outside every span: client, HTTP, waiting. Recording the spans takes a part of the time.`,
  );
}

/** Returns the time of each span without the time of its children, in ms, keyed by service and name. */
function ownTimes(spans: readonly ExportedSpan[]): Map<string, number> {
  const own = new Map<string, number>();
  const waitedFor = spans.filter((span) => isWaitedFor(span, spans));
  for (const span of waitedFor) {
    const children = waitedFor.filter(({ parentSpanId }) => parentSpanId === span.spanId);
    const inChildren = children.reduce((sum, child) => sum + child.ms, 0);
    const name = `${span.service} ${span.name}`;
    own.set(name, (own.get(name) ?? 0) + Math.max(0, span.ms - inChildren));
  }
  return own;
}

/** Returns whether the response waits for the span. Publishing and processing events continue after the response. */
function isWaitedFor(span: ExportedSpan, spans: readonly ExportedSpan[]): boolean {
  if (/^(publish|process|extract) /.test(span.name)) return false;
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? isWaitedFor(parent, spans) : / \/(api|v1\/object)\//.test(span.name);
}
