import { AppError } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import type { Logger } from "@statehouse/runtime";
import type { Nats } from "./nats.ts";
import { parkEvent, replayParked } from "./parked-event.ts";
import { type EventHandlers, subscribe } from "./subscribe.ts";

export interface ConsumerOptions {
  nats: Nats;
  database: Database;
  /** With `name` it makes the durable name, `<service>-<name>`. */
  service: string;
  name: string;
  filters: readonly string[];
  handlers: EventHandlers;
  maxFailures?: number;
  logger: Logger;
}

export interface Consumer extends AsyncDisposable {
  /** Handles again what was parked; for the operator's command. */
  replayParked(): Promise<{ replayed: number; failed: number }>;
}

/** A service's own subscription: what it cannot process is parked in its `parked_events`. */
export function startConsumer({
  database,
  service,
  name,
  handlers,
  ...options
}: ConsumerOptions): Consumer {
  const durable = `${service}-${name}`;
  const subscription = subscribe({
    ...options,
    durable,
    handlers,
    // A neighbour or the database is away: the event is not to blame.
    isTransient: (error) => error instanceof AppError && error.kind === "unavailable",
    park: (failed) => parkEvent(database, failed),
  });
  return {
    replayParked: () => replayParked({ database, consumer: durable, handlers }),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
