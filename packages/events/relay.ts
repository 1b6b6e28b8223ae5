import { setTimeout as sleep } from "node:timers/promises";
import { type JetStreamClient, jetstream } from "@nats-io/jetstream";
import { metrics, SpanKind } from "@opentelemetry/api";
import { commitWith, type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import {
  counterFromZero,
  createWake,
  type Logger,
  spansAreRecorded,
  startLoop,
  traceparent,
  withServerSpan,
} from "@statehouse/runtime";
import { type Event, headersOf, organizationIn, subjectOf } from "./event.ts";
import type { Nats } from "./nats.ts";
import { wakeAfterCommits } from "./outbox.ts";
import { ensureStreams, type StreamSettings, streamOf } from "./stream.ts";

export interface RelayOptions {
  database: Database;
  nats: Nats;
  /** The service that owns the outbox, for metrics and logs. */
  service: string;
  /** The URI of the installation and the service, which is the header `ce-source` of the events. */
  source: string;
  /** Settings of the streams, which are created or changed if necessary. */
  stream?: StreamSettings;
  logger: Logger;
}

export interface OutboxRow {
  id: number;
  event_id: string;
  type: string;
  subject: string;
  revision: number;
  message: string;
  traceparent: string | null;
  auth_type: string;
  auth_id: string;
  recorded_at: Date;
}

export const outboxColumns =
  "id, event_id, type, subject, revision, message, traceparent, auth_type, auth_id, recorded_at";

const POLL_MS = 500;
const BATCH = 500;
/**
 * Minimum time from the start of one batch to the start of the next, in ms, while events are recorded continuously.
 * Each batch is a transaction whose commit waits for the disk, so without this limit the relay would slow down the
 * transactions of requests. An event that is recorded while the relay is idle does not wait.
 */
const BATCH_INTERVAL_MS = 25;
/** Maximum total length, in characters, of the events that are sent before the first acknowledgement arrives. */
const MAX_WINDOW_LENGTH = 2 * 1024 * 1024;
/**
 * The time in ms after which no further window of a batch is sent. The last window can take PUBLISH_TIMEOUT_MS longer.
 * Both times together are well below the transaction and idle timeouts of the database, so that the relay can still
 * delete the acknowledged events.
 */
const BATCH_MS = 10_000;
const PUBLISH_TIMEOUT_MS = 5000;
/**
 * An arbitrary number for an advisory lock. With any number of replicas, only one relay of a database publishes at a
 * time.
 */
export const LOCK = 7031406126;

/**
 * Publishes the outbox in order of ids and deletes acknowledged events. Each event of a batch is sent without waiting
 * for the acknowledgement of the previous one, so that the time that the server needs to write an event to the disk
 * does not limit the rate. After a failure, publishes again from the first event that was not acknowledged. Waits while
 * the database or the bus is unavailable.
 */
export function startRelay(options: RelayOptions): AsyncDisposable {
  const { database, logger } = options;
  const wake = createWake();
  const subscription = wakeAfterCommits(database.orm.em.config, () => wake.wake());
  const meter = metrics.getMeter("statehouse/events");
  const published = counterFromZero("statehouse/events", "statehouse_events_published_total", {
    description: "Events published to the stream",
    series: [{ service: options.service }],
  });
  let lagSeconds = 0;
  meter
    .createObservableGauge("statehouse_outbox_lag_seconds", {
      description: "Age of the oldest unpublished event",
    })
    .addCallback((result) => result.observe(lagSeconds, { service: options.service }));

  let failing = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  const work = async (stop: AbortSignal): Promise<boolean> => {
    const pause = startedAt + BATCH_INTERVAL_MS - performance.now();
    if (pause > 0) await sleep(pause);
    startedAt = performance.now();
    try {
      const oldest = await oldestEvent(database);
      lagSeconds = oldest ? Math.max(0, (Date.now() - oldest.getTime()) / 1000) : 0;
      const count = oldest ? await publishBatch(options, stop) : 0;
      published.add(count, { service: options.service });
      if (failing) logger.info("outbox relay resumed");
      failing = false;
      return count > 0;
    } catch (error) {
      if (!failing && !stop.aborted) logger.warn({ err: error }, "outbox relay stalled");
      failing = true;
      // Each commit wakes the relay immediately; without this pause the relay would call an unavailable bus again and
      // again.
      if (!stop.aborted) await sleep(POLL_MS, undefined, { ref: false });
      return false;
    }
  };
  const name = `publish the events of ${options.service}`;
  const loop = startLoop({ name, intervalMs: POLL_MS, wake, work, logger });

  return {
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      subscription[Symbol.dispose]();
    },
  };
}

async function oldestEvent(database: Database): Promise<Date | undefined> {
  const [row] = await database.query<{ recorded_at: Date }>(
    // index: outbox_pkey
    "select recorded_at from outbox order by id limit 1",
  );
  return row?.recorded_at;
}

const deleted = {
  change: "delete from outbox where id = any($1) returning id",
  select: "select count(*) from changed",
};

/**
 * Publishes a batch and returns the number of published events; throws if not even the first event could be published.
 */
async function publishBatch(
  { database, nats, source, stream = {} }: RelayOptions,
  signal: AbortSignal,
): Promise<number> {
  // The bus must respond before the transaction begins: otherwise the transaction would be idle while the bus is
  // unavailable.
  await nats.ready();
  const client = jetstream(await nats.connection(), { timeout: PUBLISH_TIMEOUT_MS });
  const outcome = await database.transaction(async (em) => {
    const rows = await claim(em);
    const sent: number[] = [];
    const until = Date.now() + BATCH_MS;
    let failure: unknown;
    for (const window of windowsOf(rows)) {
      if (signal.aborted || Date.now() > until || failure !== undefined) break;
      // All events of the window are sent before the first acknowledgement arrives. The connection keeps their order.
      const results = await Promise.allSettled(window.map((row) => publish(client, source, row)));
      for (const [index, result] of results.entries()) {
        const row = window[index];
        // If an event fails, the later events of the window are published again after it; the stream discards the
        // duplicates.
        if (result.status === "rejected") {
          failure = result.reason;
          break;
        }
        if (row) sent.push(row.id);
      }
    }
    if (sent.length > 0) await commitWith(em, deleted, [sent]);
    return { count: sent.length, failure };
  });
  if (outcome.failure === undefined) return outcome.count;
  // Missing streams are created again, because the NATS server may have been replaced by an empty server.
  await ensureStreams(nats, stream);
  if (outcome.count === 0) throw outcome.failure;
  return outcome.count;
}

/** Divides events into windows. The events of one window are sent without waiting for their acknowledgements. */
function* windowsOf(rows: readonly OutboxRow[]): Generator<OutboxRow[]> {
  let window: OutboxRow[] = [];
  let length = 0;
  for (const row of rows) {
    if (window.length > 0 && length + row.message.length > MAX_WINDOW_LENGTH) {
      yield window;
      window = [];
      length = 0;
    }
    window.push(row);
    length += row.message.length;
  }
  if (window.length > 0) yield window;
}

/** Returns the oldest events of the outbox. Returns none while the relay of another replica holds the lock. */
async function claim(em: EntityManager): Promise<OutboxRow[]> {
  const [lock] = await queryIn<{ held: boolean }>(
    em,
    "select pg_try_advisory_xact_lock($1) as held",
    [LOCK],
  );
  if (!lock?.held) return [];
  return queryIn<OutboxRow>(
    em,
    // index: outbox_pkey
    `select ${outboxColumns} from outbox order by id limit $1`,
    [BATCH],
  );
}

/** Converts a row of the outbox into its event. */
export const eventOf = (row: OutboxRow, source: string): Event => ({
  id: row.event_id,
  type: row.type,
  organizationId: organizationIn(row.message),
  source,
  subject: row.subject,
  revision: row.revision,
  time: row.recorded_at,
  traceparent: row.traceparent ?? undefined,
  auth: { type: row.auth_type, id: row.auth_id },
  json: row.message,
});

async function publish(client: JetStreamClient, source: string, row: OutboxRow): Promise<void> {
  const send = async () => {
    const recorded = eventOf(row, source);
    const event = spansAreRecorded() ? { ...recorded, traceparent: traceparent() } : recorded;
    await client.publish(subjectOf(event), row.message, {
      msgID: row.event_id,
      headers: headersOf(event),
      expect: { streamName: streamOf(row.type) },
    });
  };
  const attributes = { "messaging.system": "nats", "messaging.message.id": row.event_id };
  const parent = row.traceparent ?? undefined;
  await withServerSpan(`publish ${row.type}`, parent, attributes, send, SpanKind.PRODUCER);
}
