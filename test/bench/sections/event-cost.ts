import { randomUUID } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connectNats, STREAM } from "@statehouse/events";
import { statementCount } from "@statehouse/postgres";
import { callCount } from "@statehouse/rpc";
import { waitFor } from "@statehouse/testing";
import { type Stack, startStack } from "../../stack/stack.ts";
import { contentOf } from "../bytes/content.ts";
import { nothingToExtract, startWriters, type Writer } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { printTable } from "../table.ts";

/** The consumer that updates the summaries of workspaces. */
const CONSUMER = "workspaces-workspace-state";
const WRITES = 20;
const ROUNDS = 5;
const PAUSED_MS = 600_000;

/**
 * Measures the cost of the events of a state write: for each event, the workspaces service calls the state service for
 * the summary of the event's workspace. Each measurement writes with the consumer running and then with it paused; all
 * services are in one process.
 */
export async function printEventCost(bytes: number): Promise<void> {
  await using stack = await startStack({ settings: { LOG_LEVEL: "warn" } });
  await using nats = connectNats({ url: stack.nats.url, login: stack.nats.login, name: "bench" });
  const { consumers } = await jetstreamManager(await nats.connection());
  const rows: (string | number)[][] = [];
  for (const clients of [1, 8]) {
    const writers = await startWriters(stack, clients);
    const measured: Record<"running" | "paused", Cost[]> = { running: [], paused: [] };
    // The first round opens connections and compiles code, so its results are not used.
    for (let round = 0; round <= ROUNDS; round++) {
      const running = await costOfWrites(stack, writers, bytes, () => quiet(stack, consumers));
      await consumers.pause(STREAM, CONSUMER, new Date(Date.now() + PAUSED_MS));
      const paused = await costOfWrites(stack, writers, bytes, async () => {});
      await consumers.resume(STREAM, CONSUMER);
      await quiet(stack, consumers);
      if (round === 0) continue;
      measured.running.push(running);
      measured.paused.push(paused);
    }
    const part = (consumer: "running" | "paused", what: keyof Cost) =>
      median(measured[consumer].map((cost) => cost[what]));
    const ratios = measured.running.map(
      ({ ms }, round) => ms / (measured.paused[round]?.ms ?? NaN),
    );
    for (const consumer of ["running", "paused"] as const) {
      const ratio = consumer === "running" ? median(ratios) : Number.NaN;
      const costs = [
        part(consumer, "statements"),
        part(consumer, "calls"),
        part(consumer, "ms"),
        ratio,
      ];
      rows.push([clients, consumer, ...costs]);
    }
  }
  printTable(
    `    what the events of a write of ${bytes / 1024} KiB cost, with the consumer of workspaces running and paused`,
    ["clients", "consumer", "SQL a write", "calls a write", "ms a write", "of paused"],
    rows,
  );
}

interface Cost {
  /** SQL statements per write, including those of background work. */
  statements: number;
  calls: number;
  /** Duration per write in ms, measured until the last write has ended; background work may continue. */
  ms: number;
}

async function costOfWrites(
  stack: Stack,
  writers: readonly Writer[],
  bytes: number,
  settled: () => Promise<void>,
): Promise<Cost> {
  const content = contentOf(bytes, randomUUID());
  const before = { statements: statementCount(), calls: callCount() };
  const startedAt = performance.now();
  await Promise.all(
    writers.map(async (writer) => {
      for (let index = 0; index < WRITES; index++) await writer.write(content);
    }),
  );
  const ms = performance.now() - startedAt;
  await nothingToExtract(stack);
  await settled();
  const writes = WRITES * writers.length;
  return {
    statements: (statementCount() - before.statements) / writes,
    calls: (callCount() - before.calls) / writes,
    ms: ms / WRITES,
  };
}

type Consumers = Awaited<ReturnType<typeof jetstreamManager>>["consumers"];

/** Waits until every event of the state service has been published, and `CONSUMER` has received all of its events. */
async function quiet({ rows }: Stack, consumers: Consumers): Promise<void> {
  await waitFor(
    async () => {
      if ((await rows("state", "select from outbox limit 1")).length > 0) return false;
      const { num_pending, num_ack_pending } = await consumers.info(STREAM, CONSUMER);
      return num_pending + num_ack_pending === 0;
    },
    { timeout: 60_000, interval: 20, what: "the consumer to have received every event" },
  );
}
