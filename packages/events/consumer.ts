import type { JsMsg } from "@nats-io/jetstream";
import { SpanKind } from "@opentelemetry/api";
import { isTransient } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { counterFromZero, type Logger, withServerSpan } from "@statehouse/runtime";
import { type Replay, replayConsumer, storeDeadLetter } from "./dead-letter.ts";
import { type Event, eventFrom, reaches } from "./event.ts";
import type { Nats } from "./nats.ts";
import { type Projection, projectionOf, refreshAll, typesOf } from "./projection.ts";
import { failed, type Outcome, receiveMessages } from "./receive.ts";
import { ensureStreams, ensureSubscribers, type StreamSettings } from "./stream.ts";

/** A service's subscription to events of other services. */
export interface Consumer {
  /** The second part of the durable consumer's name, which is `<service>-<name>`. */
  name: string;
  /** The subjects to receive, which must include all event types of the projections. */
  filter: string;
  projections: readonly Projection[];
}

export interface ConsumerOptions extends Consumer {
  nats: Nats;
  database: Database;
  service: string;
  /** Settings of the streams, which are created or changed if necessary. */
  stream?: StreamSettings;
  maxFailures?: number;
  logger: Logger;
}

const durableName = (service: string, name: string): string => `${service}-${name}`;

/** Throws if the filters of the consumers exclude an event type to which one of their projections reacts. */
export function requireReachableHints(consumers: readonly Consumer[]): void {
  for (const projection of new Set(consumers.flatMap(({ projections }) => projections))) {
    const filters = consumers.flatMap(({ filter, projections }) =>
      projections.includes(projection) ? [filter] : [],
    );
    for (const type of typesOf([projection])) {
      if (!filters.some((filter) => reaches(filter, type))) {
        throw new Error(`The filters ${filters.join(", ")} exclude the hint ${type}.`);
      }
    }
  }
}

/** The maximum number of events whose objects are refreshed together. */
const BATCH = 100;

/** Starts a service's subscription. Events that the service cannot process become dead letters in its database. */
export function startConsumer({
  nats,
  database,
  service,
  name,
  filter,
  projections,
  stream = {},
  maxFailures,
  logger,
}: ConsumerOptions): AsyncDisposable {
  const durable = durableName(service, name);
  const refreshes = counterFromZero("statehouse/events", "statehouse_event_refreshes_total", {
    description: "Objects that events caused to be read from their owner",
    series: [{ consumer: durable }],
  });
  const options = {
    durable,
    // A failure is transient if another service or the database is unavailable. In that case, the event is not the
    // cause.
    isTransient,
    deadLetter: (event: Parameters<typeof storeDeadLetter>[1]) => storeDeadLetter(database, event),
    ...(maxFailures === undefined ? {} : { maxFailures }),
    logger,
  };
  return receiveMessages({
    nats,
    durable,
    filter,
    // Missing streams are created again, because the NATS server may have been replaced by an empty server.
    prepare: async () => {
      await ensureStreams(nats, stream);
      await ensureSubscribers(nats, stream.subscribers, logger);
    },
    batch: BATCH,
    logger,
    async receive(messages) {
      const { read, outcomes } = readHints(projections, messages, logger);
      for (const [projection, hints] of Map.groupBy(read, (one) => one.projection)) {
        const ids = [...new Set(hints.map(({ id }) => id))];
        refreshes.add(ids.length, { consumer: durable });
        const failures = await inTraceOf(durable, hints, () => refreshAll(projection, ids));
        for (const { message, event, id } of hints) {
          if (failures.has(id)) {
            outcomes.push(await failed(options, message, event, failures.get(id)));
          } else {
            message.ack();
            outcomes.push("handled");
          }
        }
      }
      return outcomes;
    },
  });
}

interface ReadHint {
  message: JsMsg;
  event: Event;
  projection: Projection;
  id: string;
}

/**
 * Reads from each message the id of the object to refresh. A message is acknowledged and counted as ignored if its type
 * is unknown, if it is unreadable, or if it names no known object.
 */
function readHints(
  projections: readonly Projection[],
  messages: readonly JsMsg[],
  logger: Logger,
): { read: ReadHint[]; outcomes: Outcome[] } {
  const read: ReadHint[] = [];
  const outcomes: Outcome[] = [];
  for (const message of messages) {
    const event = eventFrom(message);
    const projection = projectionOf(projections, event.type);
    let id: string | undefined;
    try {
      id = projection?.hints[event.type]?.(event);
    } catch (error) {
      logger.warn({ err: error, event: event.id, type: event.type }, "event is unreadable");
    }
    if (projection && id !== undefined) read.push({ message, event, projection, id });
    else {
      message.ack();
      outcomes.push("ignored");
    }
  }
  return { read, outcomes };
}

/** Runs `work` in the trace of the first event. */
async function inTraceOf<T>(
  durable: string,
  hints: readonly ReadHint[],
  work: () => Promise<T>,
): Promise<T> {
  const [first] = hints;
  const attributes = {
    "messaging.system": "nats",
    "messaging.message.id": first?.event.id ?? "",
    "messaging.batch.message_count": hints.length,
    "messaging.consumer.group.name": durable,
  };
  const title = `process ${first?.event.type}`;
  return withServerSpan(title, first?.event.traceparent, attributes, work, SpanKind.CONSUMER);
}

export interface ReplayOptions {
  database: Database;
  service: string;
  consumers: readonly Consumer[];
  /** Called with one line of text for each consumer and for each event that still fails. */
  print: (line: string) => void;
}

/**
 * Processes the dead letters of these consumers again, for the operator's command. Returns true if none of them failed
 * again.
 */
export async function replayDeadLetters({
  database,
  service,
  consumers,
  print,
}: ReplayOptions): Promise<boolean> {
  const replays: Replay[] = [];
  for (const { name, projections } of consumers) {
    const consumer = durableName(service, name);
    const replay = await replayConsumer({ database, consumer, projections });
    replays.push(replay);
    print(`${consumer}: ${replay.replayed} replayed, ${replay.failures.length} failed`);
    for (const { eventId, type, subject, error } of replay.failures) {
      print(`  ${eventId} ${type} of ${subject}: ${error}`);
    }
  }
  return replays.every(({ failures }) => failures.length === 0);
}
