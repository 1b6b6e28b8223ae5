import { setTimeout as sleep } from "node:timers/promises";
import { SpanKind } from "@opentelemetry/api";
import type { Database } from "@statehouse/postgres";
import { createWake, type Logger, startLoop, withServerSpan } from "@statehouse/runtime";
import type { Consumer } from "./consumer.ts";
import type { Event } from "./event.ts";
import { wakeAfterCommits } from "./outbox.ts";
import { eventOf, type OutboxRow } from "./relay.ts";

/**
 * Delivers events between the services of one process while no NATS server runs. The outbox keeps every event, and
 * the relay publishes them after a start that finds a server. Consumers then receive events twice, and apply each
 * only once because of its revision.
 */
export interface LocalBus {
  subscribe(consumer: Consumer, logger: Logger): Disposable;
  /** Starts the delivery. Called when every service has subscribed. */
  open(): void;
  /**
   * Calls each handler that is registered for the event's type. Waits until the bus is open; resolves early if `stop`
   * is aborted.
   */
  deliver(event: Event, stop: AbortSignal): Promise<void>;
}

const ATTEMPTS = 5;
const POLL_MS = 500;
const BATCH = 100;
/**
 * Longer than any transaction, because an event with a lower id can be committed until the last older transaction has
 * ended.
 */
const COMMIT_MS = 120_000;

export function createLocalBus(): LocalBus {
  const subscriptions = new Set<{ consumer: Consumer; logger: Logger }>();
  const opened = Promise.withResolvers<void>();
  return {
    subscribe(consumer, logger) {
      const subscription = { consumer, logger };
      subscriptions.add(subscription);
      return { [Symbol.dispose]: () => void subscriptions.delete(subscription) };
    },
    open: () => opened.resolve(),
    async deliver(event, stop) {
      const stopped = Promise.withResolvers<void>();
      stop.addEventListener("abort", () => stopped.resolve(), { once: true });
      await Promise.race([opened.promise, stopped.promise]);
      for (const { consumer, logger } of subscriptions) {
        const handle = consumer.handlers[event.type];
        if (!handle || stop.aborted) continue;
        const about = { consumer: consumer.name, event: event.id, type: event.type };
        await withServerSpan(
          `process ${event.type}`,
          event.traceparent,
          { "messaging.message.id": event.id },
          () => attempt(() => handle(event), stop, about, logger),
          SpanKind.CONSUMER,
        );
      }
    },
  };
}

/** Repeats a failed delivery with growing pauses. An event that still fails is delivered again at the next start. */
async function attempt(
  handle: () => Promise<void>,
  stop: AbortSignal,
  about: object,
  logger: Logger,
): Promise<void> {
  for (let failures = 1; !stop.aborted; failures++) {
    try {
      await handle();
      return;
    } catch (error) {
      if (failures === ATTEMPTS) {
        logger.error({ ...about, failures, err: error }, "event failed until the next start");
        return;
      }
      await sleep(100 * 2 ** failures, undefined, { signal: stop }).catch(() => {});
    }
  }
}

export interface LocalRelayOptions {
  database: Database;
  bus: LocalBus;
  /** The service that owns the outbox; becomes `ce-source`. */
  service: string;
  logger: Logger;
}

/** Delivers each event of the outbox once during the life of this process, in order of ids, and deletes none. */
export function startLocalRelay({
  database,
  bus,
  service,
  logger,
}: LocalRelayOptions): AsyncDisposable {
  /** Every event up to this id is delivered, and no lower id can be committed. */
  let settled = 0;
  const delivered = new Map<number, Date>();
  const wake = createWake();
  const woken = wakeAfterCommits(database.orm.em.config, () => wake.wake());
  const loop = startLoop({
    name: `deliver the events of ${service}`,
    intervalMs: POLL_MS,
    wake,
    logger,
    work: async (stop) => {
      const rows = await database.query<OutboxRow>(
        // index: outbox_pkey
        `select id, event_id, type, subject, revision, message, traceparent, recorded_at
         from outbox where id > $1 and id <> all($2) order by id limit $3`,
        [settled, [...delivered.keys()], BATCH],
      );
      for (const row of rows) {
        await bus.deliver(eventOf(row, service), stop);
        if (stop.aborted) return false;
        delivered.set(row.id, row.recorded_at);
      }
      for (const [id, recordedAt] of [...delivered].sort(([one], [other]) => one - other)) {
        if (recordedAt.getTime() > Date.now() - COMMIT_MS) break;
        settled = id;
        delivered.delete(id);
      }
      return rows.length === BATCH;
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      woken[Symbol.dispose]();
      await loop[Symbol.asyncDispose]();
    },
  };
}
