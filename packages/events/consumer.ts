import { SpanKind } from "@opentelemetry/api";
import { isTransient } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { type Logger, withServerSpan } from "@statehouse/runtime";
import type { Nats } from "./nats.ts";
import { parkEvent, type Replay, replayParked } from "./parked-event.ts";
import { type EventHandlers, subscribe } from "./subscribe.ts";

/** Something that a service listens to. */
export interface Consumption {
  /** With the service's name it makes the durable name, `<service>-<name>`. */
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

/** A service's own subscription: what it cannot process is parked in its `parked_events`. */
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
    // A neighbour or the database is away: the event is not to blame.
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
  /** Takes one line for each consumer and each event that stays parked. */
  print: (line: string) => void;
}

/** Handles again whatever a service has parked; the operator's command. Answers whether nothing is left. */
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
