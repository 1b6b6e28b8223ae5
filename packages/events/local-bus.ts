import { setTimeout as sleep } from "node:timers/promises";
import { SpanKind } from "@opentelemetry/api";
import { createWake, type Logger, startLoop, withServerSpan } from "@statehouse/runtime";
import type { Consumer } from "./consumer.ts";
import { type Event, reaches } from "./event.ts";
import { wakeAfterCommits } from "./outbox.ts";
import { type Projection, refreshAll } from "./projection.ts";
import { eventOf, type OutboxRow, outboxColumns, type RelayOptions } from "./relay.ts";

/**
 * Delivers events between the services of one process if no NATS server runs. All events stay in the outbox. If a later
 * start finds a NATS server, the relay publishes them: the consumers receive them a second time, which only refreshes
 * the objects again.
 */
export interface LocalBus {
  subscribe(consumer: Consumer, logger: Logger): Disposable;
  /** Starts the delivery. Called after every service has subscribed. */
  open(): void;
  /**
   * Refreshes each object that the events name, once for each subscription. Waits until the bus is open; resolves early
   * when `stop` is aborted.
   */
  deliver(events: readonly Event[], stop: AbortSignal): Promise<void>;
}

const ATTEMPTS = 5;
const POLL_MS = 500;
const BATCH = 100;
/**
 * A duration in ms that is longer than any transaction. An event with a lower id can still be committed until all older
 * transactions have ended.
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
    async deliver(events, stop) {
      const stopped = Promise.withResolvers<void>();
      stop.addEventListener("abort", () => stopped.resolve(), { once: true });
      await Promise.race([opened.promise, stopped.promise]);
      for (const { consumer, logger } of subscriptions) {
        const matching = events.filter(({ type }) => reaches(consumer.filter, type));
        for (const projection of consumer.projections) {
          const [first, ...others] = matching.filter(({ type }) => type in projection.hints);
          if (!first || stop.aborted) continue;
          const ids = [first, ...others].flatMap(
            (event) => projection.hints[event.type]?.(event) ?? [],
          );
          await withServerSpan(
            `process ${first.type}`,
            first.traceparent,
            {
              "messaging.message.id": first.id,
              "messaging.batch.message_count": others.length + 1,
            },
            () => attempt(projection, new Set(ids), stop, { consumer: consumer.name, logger }),
            SpanKind.CONSUMER,
          );
        }
      }
    },
  };
}

/**
 * Refreshes the objects, and retries failed ones with growing pauses. An object that fails in the last attempt is
 * refreshed again at the next start.
 */
async function attempt(
  projection: Projection,
  ids: ReadonlySet<string>,
  stop: AbortSignal,
  { consumer, logger }: { consumer: string; logger: Logger },
): Promise<void> {
  let left: readonly string[] = [...ids];
  for (let failures = 1; !stop.aborted && left.length > 0; failures++) {
    const failed = await refreshAll(projection, left);
    left = [...failed.keys()];
    if (failures === ATTEMPTS) {
      for (const [id, error] of failed) {
        logger.error(
          { consumer, id, failures, err: error },
          "object not refreshed; its event is delivered again at the next start",
        );
      }
      return;
    }
    if (left.length > 0) {
      await sleep(100 * 2 ** failures, undefined, { signal: stop }).catch(() => {});
    }
  }
}

export interface LocalRelayOptions extends Omit<RelayOptions, "nats" | "stream"> {
  bus: LocalBus;
}

/**
 * Delivers each event of the outbox once during the life of this process, in order of ids. Deletes no event, so all of
 * them are delivered again after the next start.
 */
export function startLocalRelay({
  database,
  bus,
  service,
  source,
  logger,
}: LocalRelayOptions): AsyncDisposable {
  /** All events up to this id are delivered, and no event with a lower id can still be committed. */
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
        `select ${outboxColumns}
         from outbox where id > $1 and id <> all($2) order by id limit $3`,
        [settled, [...delivered.keys()], BATCH],
      );
      if (rows.length > 0)
        await bus.deliver(
          rows.map((row) => eventOf(row, source)),
          stop,
        );
      if (stop.aborted) return false;
      for (const row of rows) delivered.set(row.id, row.recorded_at);
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
