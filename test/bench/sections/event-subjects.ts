import { readFileSync } from "node:fs";
import path from "node:path";
import {
  AckPolicy,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
} from "@nats-io/jetstream";
import { connectNats, eventType, STREAM } from "@statehouse/events";
import { eventMessages } from "@statehouse/events/catalog";
import { ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { type Aim, atMost } from "../aim.ts";
import { cpuMicros, residentBytes } from "../processes.ts";
import { printTable } from "../table.ts";

const ORGANIZATIONS = 10_000;
const TYPES = 25;
const EVENTS = ORGANIZATIONS * TYPES;
const WINDOW = 1000;
const PAYLOAD = "x".repeat(200);
const MIB = 1024 * 1024;

/**
 * (n) Measures what it costs nats-server if the subject of an event contains the organization. Compares the memory and
 * the publishing rate of two fresh servers: the first has one subject for each event type, the second has one for each
 * type and organization. Then measures the rate of one consumer, and the server's CPU time for it, with each form of
 * subject filter.
 */
export async function eventSubjects(): Promise<Aim[]> {
  const all = eventMessages.map(eventType).filter((type) => type.startsWith("statehouse."));
  const types = all.slice(0, TYPES);
  const withTypes = await measure(types, () => "_");
  const withOrganizations = await measure(
    types,
    (index) => `org-${String(index).padStart(16, "0")}`,
    filtersOf(types),
  );
  printTable(
    `(n) ${EVENTS.toLocaleString("en")} events in a stream, one server without fsync`,
    ["subjects", "events/s", "MiB before", "MiB after", "MiB restarted"],
    [
      [TYPES, ...columnsOf(withTypes)],
      [EVENTS, ...columnsOf(withOrganizations)],
    ],
  );
  printTable(
    `(n) one consumer of ${EVENTS.toLocaleString("en")} subjects`,
    ["filter", "events", "events/s", "server µs/event"],
    withOrganizations.consumed.map(({ name, events, perSecond, micros }) => [
      name,
      ...[events, perSecond, micros],
    ]),
  );
  const bytes = (withOrganizations.restarted - withTypes.restarted) / EVENTS;
  return [atMost("(n) memory of a subject, in a restarted server", 1024, bytes, " bytes")];
}

interface Measured {
  perSecond: number;
  /** Resident memory of the empty server, in bytes. */
  before: number;
  /** Resident memory of the server after the last acknowledgement, in bytes. */
  after: number;
  /** Resident memory of the server after a restart, in bytes. */
  restarted: number;
  consumed: readonly Consumed[];
}

const columnsOf = ({ perSecond, before, after, restarted }: Measured) => [
  ...[perSecond, before / MIB, after / MIB, restarted / MIB],
];

interface Filters {
  name: string;
  filters: readonly string[];
}

function filtersOf(types: readonly string[]): Filters[] {
  const four = types.slice(0, 4);
  const [first = ""] = types;
  const [, service, , verb] = first.split(".");
  return [
    { name: "four types, <type>.>", filters: four.map((type) => `${type}.>`) },
    { name: "four types, <type>.*", filters: four.map((type) => `${type}.*`) },
    { name: "one type, <type>.>", filters: [`${first}.>`] },
    { name: `one verb, *.${verb}.>`, filters: [`statehouse.${service}.*.${verb}.>`] },
    { name: "everything, statehouse.>", filters: ["statehouse.>"] },
    { name: "one organization", filters: ["statehouse.*.*.*.*.org-0000000000000777"] },
  ];
}

async function measure(
  types: readonly string[],
  organizationOf: (index: number) => string,
  filters: readonly Filters[] = [],
): Promise<Measured> {
  await using folder = await temporaryFolder();
  const pidFile = path.join(folder.path, "pid");
  const streams = { store_dir: path.join(folder.path, "streams"), sync_interval: "2m" };
  await using server = await ownNats({
    jetstream: false,
    configuration: `jetstream ${JSON.stringify(streams)}\npid_file ${JSON.stringify(pidFile)}`,
  });
  const pid = () => Number(readFileSync(pidFile, "utf8"));
  await using nats = connectNats({ url: server.url, name: "bench" });
  const { streams: api } = await jetstreamManager(await nats.connection());
  await api.add({
    ...{ name: STREAM, subjects: ["statehouse.>"], retention: RetentionPolicy.Limits },
    ...{ discard: DiscardPolicy.Old, duplicate_window: 3600e9 },
  });
  const before = await settled(pid());
  const startedAt = performance.now();
  const publisher = jetstream(await nats.connection());
  for (let first = 0; first < EVENTS; first += WINDOW) {
    const window = Array.from({ length: WINDOW }, (_, offset) => first + offset);
    await Promise.all(
      window.map((index) => {
        const subject = `${types[index % TYPES]}.${organizationOf(Math.floor(index / TYPES))}`;
        return publisher.publish(subject, PAYLOAD, { msgID: `event-${index}` });
      }),
    );
  }
  const perSecond = (EVENTS / (performance.now() - startedAt)) * 1000;
  const after = await settled(pid());
  const consumed: Consumed[] = [];
  for (const one of filters) consumed.push(await consume(await nats.connection(), pid(), one));
  await server.stop();
  await server.start();
  await waitFor(() => nats.ready().then(() => true));
  const restarted = await settled(pid());
  return { perSecond, before, after, restarted, consumed };
}

/** Waits until the resident memory has changed by less than 1 MiB for two seconds, and returns it. */
async function settled(pid: number): Promise<number> {
  let last = Number.NaN;
  let since = performance.now();
  return await waitFor(
    async () => {
      const bytes = residentBytes(pid) ?? 0;
      if (!(Math.abs(bytes - last) < MIB)) {
        last = bytes;
        since = performance.now();
      }
      return performance.now() - since > 2000 && bytes;
    },
    { timeout: 60_000, interval: 200, what: "the memory of nats-server to be constant" },
  );
}

interface Consumed {
  name: string;
  events: number;
  perSecond: number;
  /** CPU time of the server for each event, in µs. */
  micros: number;
}

type Connection = Awaited<ReturnType<ReturnType<typeof connectNats>["connection"]>>;

async function consume(
  connection: Connection,
  pid: number,
  { name, filters }: Filters,
): Promise<Consumed> {
  const { consumers } = await jetstreamManager(connection);
  const [only, ...others] = filters;
  const server = [{ name: "nats", pid }];
  const cpu = () => cpuMicros(server).get("nats") ?? 0;
  const [startedAt, cpuBefore] = [performance.now(), cpu()];
  const { num_pending: events } = await consumers.add(STREAM, {
    ...{ durable_name: "bench", ack_policy: AckPolicy.Explicit },
    ...(others.length > 0 ? { filter_subjects: [...filters] } : { filter_subject: only ?? "" }),
  });
  const consumer = await jetstream(connection).consumers.get(STREAM, "bench");
  const messages = await consumer.consume({ max_messages: 100 });
  let received = 0;
  for await (const message of messages) {
    message.ack();
    if (++received >= events) break;
  }
  await connection.flush();
  const perSecond = (events / (performance.now() - startedAt)) * 1000;
  const micros = (cpu() - cpuBefore) / events;
  await consumers.delete(STREAM, "bench");
  return { name, events, perSecond, micros };
}
