import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import {
  connectNats,
  ensureStreams,
  eventMigrations,
  type Nats,
  recordEvent,
  startRelay,
} from "@statehouse/events";
import { type Database, openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceUpdatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import { ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Options } from "../options.ts";
import { treeMicros } from "../processes.ts";
import { median, quantile } from "../statistics.ts";
import { print, printTable } from "../table.ts";

const RATE = 1000;
const ORGANIZATIONS = 100;
/** The number of events that wait in the outbox when the relay starts, to measure its highest rate. */
const WAITING = 20_000;
const WARM_UP_MS = 3000;
const TICK_MS = 10;
/**
 * Maximum number of concurrent transactions. More transactions would only wait for a connection, until they exceed
 * their time limit.
 */
const MAX_TRANSACTIONS = 200;
/** A process that uses at least this share of a core limits the rate. */
const BUSY = 0.8;
/** If the ratio of the rate with fsyncs to the rate without fsyncs is lower than this, the disk limits the rate. */
const DISK_LIMITS = 0.7;

const logger = createLogger({ service: "bench", level: "silent" });

/** The database, the bus and the processes of a measurement of the relay. */
interface Parts {
  database: Database;
  nats: Nats;
  url: string;
  /** The ids of the processes whose CPU time is measured, by name. */
  counted: ReadonlyMap<string, number>;
}

/**
 * Measures the relay. First, transactions record 1,000 events a second for `--seconds`, and a subscriber receives
 * them. Then the relay publishes events that already wait in the outbox: once to a NATS server that syncs each event to
 * its disk before it acknowledges the event, as the local services do, and once to a NATS server that syncs later. The
 * difference between the two rates is the cost of the syncs.
 */
export async function events({ seconds }: Options, postgres: number): Promise<Aim[]> {
  await using synced = await startParts(postgres, { isSynced: true });
  const aims = await steady(synced, seconds);
  const withSync = await highestRate(synced);
  await using unsynced = await startParts(postgres, { isSynced: false });
  const withoutSync = await highestRate(unsynced);
  printTable(
    `events: the relay with ${WAITING.toLocaleString("en")} waiting events`,
    ["nats-server", "events/s", ...withSync.shares.keys()],
    [
      ["syncs each event", withSync.rate, ...[...withSync.shares.values()].map(percent)],
      ["syncs later", withoutSync.rate, ...[...withoutSync.shares.values()].map(percent)],
    ],
  );
  const isDisk = withSync.rate < DISK_LIMITS * withoutSync.rate;
  print(`    limited by: ${isDisk ? "the fsyncs of nats-server" : limitOf(withSync.shares)}`);
  return aims;
}

/** Starts an empty NATS server and opens an empty database. */
async function startParts(
  postgres: number,
  { isSynced }: { isSynced: boolean },
): Promise<Parts & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder()).path;
  const pidFile = path.join(folder, "pid");
  const streams = {
    store_dir: path.join(folder, "streams"),
    sync_interval: isSynced ? "always" : "2m",
  };
  const { url } = starting.use(
    await ownNats({
      jetstream: false,
      configuration: `jetstream ${JSON.stringify(streams)}\npid_file ${JSON.stringify(pidFile)}`,
    }),
  );
  const schema = { contextName: "workspaces", migrations: eventMigrations };
  const fresh = starting.use(await freshDatabase(schema));
  const nats = starting.use(connectNats({ url, name: "bench" }));
  const options = { ...schema, url: fresh.url, entities: [], logger };
  const database = starting.use(await openDatabase(options));
  await ensureStreams(nats, {});
  const counted = new Map([
    ["PostgreSQL", postgres],
    ["nats-server", Number(readFileSync(pidFile, "utf8"))],
  ]);
  const started = starting.move();
  return {
    ...{ database, nats, url, counted },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const relayOf = ({ database, nats }: Parts) =>
  startRelay({ database, nats, service: "workspaces", source: "urn:bench", logger });

const waitingIn = async ({ database }: Parts): Promise<number> => {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int as count from outbox",
  );
  return row?.count ?? 0;
};

/** Measures how busy each process and this event loop are while `work` runs, as shares of a core. */
async function sharesDuring(
  { counted }: Parts,
  work: () => Promise<void>,
): Promise<{ ms: number; shares: Map<string, number> }> {
  const used = () => new Map([...counted].map(([name, pid]) => [name, treeMicros(pid)]));
  const before = used();
  const loop = performance.eventLoopUtilization();
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  const shares = new Map([["event loop", performance.eventLoopUtilization(loop).utilization]]);
  for (const [name, micros] of used()) {
    shares.set(name, (micros - (before.get(name) ?? 0)) / 1000 / ms);
  }
  return { ms, shares };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Returns a text that says what limits a rate. */
function limitOf(shares: ReadonlyMap<string, number>): string {
  const [[busiest, share] = ["", 0]] = [...shares].toSorted(([, one], [, other]) => other - one);
  return share >= BUSY ? busiest : "round trips, because no process uses a whole core";
}

/**
 * Records `RATE` events a second for `seconds`, and compares the time at which each event was committed with the time
 * at which it was received.
 */
async function steady(parts: Parts, seconds: number): Promise<Aim[]> {
  const count = RATE * seconds;
  const warmUp = (RATE * WARM_UP_MS) / 1000;
  const total = count + warmUp;
  const bytes = Float64Array.BYTES_PER_ELEMENT * total;
  const received = new Float64Array(new SharedArrayBuffer(bytes));
  const deliveries = new Int32Array(
    new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (total + 1)),
  );
  const committed = new Float64Array(total);
  const receiver = new Worker(new URL("../event-receiver.ts", import.meta.url), {
    workerData: { url: parts.url, received, deliveries },
  });
  await new Promise((resolve, reject) => receiver.once("message", resolve).once("error", reject));
  await using _relay = relayOf(parts);
  const depths: number[] = [];
  let failed = 0;
  const recordOne = async (index: number) => {
    try {
      await recordUpdate(parts.database, index);
      committed[index] = performance.timeOrigin + performance.now();
    } catch {
      failed += 1;
    }
  };
  const recordFrom = async (first: number, number: number) => {
    const startedAt = performance.now();
    const running = new Set<Promise<void>>();
    let recorded = 0;
    while (recorded < number) {
      const due = Math.min(number, Math.ceil(((performance.now() - startedAt) / 1000) * RATE));
      for (; recorded < due && running.size < MAX_TRANSACTIONS; recorded++) {
        const one = recordOne(first + recorded).finally(() => running.delete(one));
        running.add(one);
      }
      await sleep(TICK_MS);
    }
    await Promise.all(running);
  };
  const sampling = setInterval(() => {
    waitingIn(parts).then(
      (depth) => depths.push(depth),
      () => {},
    );
  }, 1000);
  await recordFrom(0, warmUp);
  depths.length = 0;
  const { ms, shares } = await sharesDuring(parts, () => recordFrom(warmUp, count));
  clearInterval(sampling);
  const all = () => Atomics.load(deliveries, total);
  await waitFor(() => all() >= total - failed, {
    timeout: 60_000 + 3000 * seconds,
    what: "all events",
  });
  await receiver.terminate();
  const lags = Float64Array.from({ length: count }, (_, offset) =>
    Math.max(0, (received[warmUp + offset] ?? 0) - (committed[warmUp + offset] ?? 0)),
  ).sort();
  const rate = (count / ms) * 1000;
  printTable(
    `events: the relay at ${RATE.toLocaleString("en")} events a second for ${seconds} s`,
    [
      "recorded/s",
      "lag p50 ms",
      "p99 ms",
      "longest ms",
      "outbox, median",
      "largest",
      ...shares.keys(),
    ],
    [
      [
        ...[rate, quantile(lags, 0.5), quantile(lags, 0.99), lags.at(-1) ?? Number.NaN],
        ...[median(depths), Math.max(...depths)],
        ...[...shares.values()].map(percent),
      ],
    ],
  );
  const twice = deliveries.subarray(0, total).filter((times) => times > 1).length;
  return [
    atLeast("recorded events, of 1,000 a second", 0.99, rate / RATE),
    atMost("lag p99", 1000, quantile(lags, 0.99), " ms"),
    atMost("events that were not recorded, or published twice", 0, failed + twice),
  ];
}

const recordUpdate = (database: Database, index: number): Promise<void> =>
  database.transaction((em) =>
    recordEvent(em, {
      schema: WorkspaceUpdatedSchema,
      subject: `ws-${index}`,
      fields: {
        ...{ workspaceId: `ws-${index}`, organizationId: `org-${index % ORGANIZATIONS}` },
        ...{ projectId: "prj-network", name: `workspace-${index}` },
        ...{ changedAttributes: ["auto-apply", "description"], revision: BigInt(index + 1) },
      },
      changed: [],
    }),
  );

/** Measures how many events per second the relay publishes if all of them wait when it starts. */
async function highestRate(parts: Parts): Promise<{ rate: number; shares: Map<string, number> }> {
  await recordUpdate(parts.database, 0);
  await parts.database.query(
    `insert into outbox (event_id, type, subject, revision, message, traceparent, auth_type, auth_id)
     select gen_random_uuid()::text, type, subject, revision, message, traceparent, auth_type, auth_id
     from outbox, generate_series(2, $1)`,
    [WAITING],
  );
  const { ms, shares } = await sharesDuring(parts, async () => {
    await using _relay = relayOf(parts);
    const empty = async () => (await waitingIn(parts)) === 0;
    await waitFor(empty, { timeout: 120_000, interval: 20, what: "an empty outbox" });
  });
  return { rate: (WAITING / ms) * 1000, shares };
}
