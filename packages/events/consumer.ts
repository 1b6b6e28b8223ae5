import { SpanKind } from "@opentelemetry/api";
import { isTransient } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { type Logger, withServerSpan } from "@statehouse/runtime";
import { type Replay, replayConsumer, storeDeadLetter } from "./dead-letter.ts";
import type { Nats } from "./nats.ts";
import { type EventHandlers, subscribe } from "./subscribe.ts";

/** A subscription of a service. */
export interface Consumer {
  /** The second part of the durable name `<service>-<name>`. */
  name: string;
  filters: readonly string[];
  handlers: EventHandlers;
}

export interface ConsumerOptions extends Consumer {
  nats: Nats;
  database: Database;
  service: string;
  maxFailures?: number;
  logger: Logger;
}

const durableName = (service: string, name: string): string => `${service}-${name}`;

/** A service's own subscription. Events that it cannot process become dead letters in the service's database. */
export function startConsumer({
  database,
  service,
  name,
  handlers,
  ...options
}: ConsumerOptions): AsyncDisposable {
  return subscribe({
    ...options,
    durable: durableName(service, name),
    handlers,
    // Another service or the database is unavailable, so the event is not the cause of the failure.
    isTransient,
    inTrace: (title, traceparent, attributes, work) =>
      withServerSpan(title, traceparent, attributes, work, SpanKind.CONSUMER),
    deadLetter: (failed) => storeDeadLetter(database, failed),
  });
}

export interface ReplayOptions {
  database: Database;
  service: string;
  consumers: readonly Consumer[];
  /** Called with one line for each consumer and each event that still fails. */
  print: (line: string) => void;
}

/** Processes all dead letters of a service again; for the operator's command. Returns whether none remain. */
export async function replayDeadLetters({
  database,
  service,
  consumers,
  print,
}: ReplayOptions): Promise<boolean> {
  const replays: Replay[] = [];
  for (const { name, handlers } of consumers) {
    const consumer = durableName(service, name);
    const replay = await replayConsumer({ database, consumer, handlers });
    replays.push(replay);
    print(`${consumer}: ${replay.replayed} replayed, ${replay.failures.length} failed`);
    for (const { eventId, type, subject, error } of replay.failures) {
      print(`  ${eventId} ${type} of ${subject}: ${error}`);
    }
  }
  return replays.every(({ failures }) => failures.length === 0);
}
