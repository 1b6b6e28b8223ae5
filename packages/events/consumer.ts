import { SpanKind } from "@opentelemetry/api";
import { isTransient } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { type Logger, withServerSpan } from "@statehouse/runtime";
import type { Nats } from "./nats.ts";
import { parkEvent, type Replay, replayParked } from "./parked-event.ts";
import { type EventHandlers, subscribe } from "./subscribe.ts";

/** A subscription of a service. */
export interface Consumption {
  /** Together with the service's name it is the durable name, `<service>-<name>`. */
  name: string;
  filters: readonly string[];
  handlers: EventHandlers;
}

export interface ConsumerOptions extends Consumption {
  nats: Nats;
  database: Database;
  service: string;
  maxFailures?: number;
  logger: Logger;
}

const durableName = (service: string, name: string): string => `${service}-${name}`;

/** A service's own subscription: events that it cannot process become dead letters in its database. */
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
    // Another service or the database is unavailable: the event is not the cause.
    isTransient,
    inTrace: (title, traceparent, attributes, work) =>
      withServerSpan(title, traceparent, attributes, work, SpanKind.CONSUMER),
    park: (failed) => parkEvent(database, failed),
  });
}

export interface ReplayConsumptions {
  database: Database;
  service: string;
  consumptions: readonly Consumption[];
  /** Receives one line for each consumer and each event that still fails. */
  print: (line: string) => void;
}

/** Processes all dead letters of a service again; the operator's command. Returns whether none is left. */
export async function replayConsumptions({
  database,
  service,
  consumptions,
  print,
}: ReplayConsumptions): Promise<boolean> {
  const replays: Replay[] = [];
  for (const { name, handlers } of consumptions) {
    const consumer = durableName(service, name);
    const replay = await replayParked({ database, consumer, handlers });
    replays.push(replay);
    print(`${consumer}: ${replay.replayed} handled, ${replay.failures.length} still parked`);
    for (const { eventId, type, subject, error } of replay.failures) {
      print(`  ${eventId} ${type} of ${subject}: ${error}`);
    }
  }
  return replays.every(({ failures }) => failures.length === 0);
}
