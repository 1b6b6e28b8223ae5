/**
 * The part of this package that needs no database. External services import it to subscribe to events. `import {
 * connectNats, on, subscribe } from "@statehouse/events/subscribe"`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type ConsumerMessages, type JsMsg, jetstream } from "@nats-io/jetstream";
import { metrics } from "@opentelemetry/api";
import { decode, type Event, eventFrom, eventType } from "./event.ts";
import type { Nats } from "./nats.ts";
import { ensureConsumer, ensureStream, STREAM } from "./stream.ts";
import { type InTrace, inOpenTelemetry } from "./tracing.ts";

export { decode, type Event, eventType } from "./event.ts";
export { connectNats, type Nats, type NatsOptions } from "./nats.ts";

/** Processes one event in a separate transaction. It must apply the event only if the stored revision is lower. */
export type EventHandler = (event: Event) => Promise<void>;

/** Handlers by event type. */
export type EventHandlers = Readonly<Record<string, EventHandler>>;

/** One entry of `handlers`, with the message decoded: `{ ...on(WorkspaceLockedSchema, …) }`. */
export function on<Schema extends DescMessage>(
  schema: Schema,
  handle: (message: MessageShape<Schema>, event: Event) => Promise<void>,
): EventHandlers {
  return { [eventType(schema)]: (event) => handle(decode(event, schema), event) };
}

type Log = (about: Record<string, unknown>, message: string) => void;

/** The logger of a subscription; pino's loggers fit. */
export interface Logger {
  info: Log;
  warn: Log;
  error: Log;
}

/** An event that failed too often. */
export interface FailedEvent {
  event: Event;
  consumer: string;
  failures: number;
  error: unknown;
}

export interface SubscribeOptions {
  nats: Nats;
  /** The durable name: replicas with the same name share the events. Letters, digits, `-` and `_`. */
  durable: string;
  /** Subjects, including wildcards: `statehouse.state.>`. */
  filters: readonly string[];
  handlers: EventHandlers;
  /**
   * Stores an event that has failed `maxFailures` times, so that it does not block later events. If storing fails
   * too, the event is retried later.
   */
  deadLetter: (failed: FailedEvent) => Promise<void>;
  /** Temporary errors that are not caused by the event; they never lead to a dead letter. */
  isTransient?: (error: unknown) => boolean;
  maxFailures?: number;
  /** The position at which a new subscription begins. */
  from?: "beginning" | "now";
  /** How processing joins the event's trace. Default: the process's OpenTelemetry, if there is one. */
  inTrace?: InTrace;
  logger: Logger;
}

const DEFAULT_MAX_FAILURES = 8;
/** Time after which an event of a killed replica is delivered to another one. */
const ACK_WAIT_SECONDS = 15;
const STILL_WORKING_MS = 5000;
/** No prefetch: if a process is killed, only the event that it was processing is delayed. */
const PREFETCH = 1;
const RETRY_MS = 500;

/**
 * Receives the stream's events one at a time through a durable consumer with explicit acknowledgement. Each event is
 * received at least once, and events of one subject in order unless one of them failed. Disposal stops the
 * subscription after the current event.
 */
export function subscribe(options: SubscribeOptions): AsyncDisposable {
  const { nats, logger } = options;
  const received = metrics
    .getMeter("statehouse/events")
    .createCounter("statehouse_events_received_total", {
      description: "Events received, by consumer and outcome",
    });
  const stop = Promise.withResolvers<void>();
  let stopped = false;
  let messages: ConsumerMessages | undefined;

  const run = async (): Promise<void> => {
    let failing = false;
    while (!stopped) {
      try {
        messages = await open(options, stop.promise);
        if (failing) logger.info({ consumer: options.durable }, "event subscription resumed");
        failing = false;
        // The subscription may have been stopped in the meantime.
        if (stopped) messages?.stop();
        if (!messages || stopped) return;
        for await (const message of messages) {
          if (stopped) {
            message.nak(); // makes the event available to another replica immediately
            continue;
          }
          const outcome = await receive(options, message);
          received.add(1, { consumer: options.durable, outcome });
        }
      } catch (error) {
        if (stopped) return;
        if (!failing)
          logger.warn({ err: error, consumer: options.durable }, "event subscription lost");
        failing = true;
      }
      if (!stopped) await Promise.race([stop.promise, sleep(RETRY_MS, undefined, { ref: false })]);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      stop.resolve();
      messages?.stop();
      await running;
      await nats.ready().catch(() => {}); // flushes the last acknowledgement if the server is available
    },
  };
}

async function open(
  { nats, durable, filters, from = "beginning" }: SubscribeOptions,
  stop: Promise<void>,
): Promise<ConsumerMessages | undefined> {
  const connection = await Promise.race([nats.connection(), stop]);
  if (!connection) return undefined;
  await ensureStream(nats);
  await ensureConsumer(connection, {
    durable,
    filters,
    from,
    description: `events for ${durable}`,
    ackWaitSeconds: ACK_WAIT_SECONDS,
  });
  const consumer = await jetstream(connection).consumers.get(STREAM, durable);
  // If the bus was set up again, the consumer no longer exists: end this subscription and create it again.
  return consumer.consume({ max_messages: PREFETCH, abort_on_missing_resource: true });
}

type Outcome = "handled" | "ignored" | "failed" | "dead_letter";

async function receive(options: SubscribeOptions, message: JsMsg): Promise<Outcome> {
  const event = eventFrom(message);
  const handle = options.handlers[event.type];
  if (!handle) {
    message.ack();
    return "ignored";
  }
  const working = setInterval(() => message.working(), STILL_WORKING_MS);
  const attributes = {
    "messaging.system": "nats",
    "messaging.message.id": event.id,
    "messaging.consumer.group.name": options.durable,
  };
  try {
    const { inTrace = inOpenTelemetry } = options;
    return await inTrace(`process ${event.type}`, event.traceparent, attributes, async () => {
      try {
        await handle(event);
        message.ack();
        return "handled";
      } catch (error) {
        return await failed(options, message, event, error);
      }
    });
  } finally {
    clearInterval(working);
  }
}

async function failed(
  options: SubscribeOptions,
  message: JsMsg,
  event: Event,
  error: unknown,
): Promise<"failed" | "dead_letter"> {
  const { durable, deadLetter, logger, isTransient = () => false } = options;
  const failures = message.info.deliveryCount;
  const about = { consumer: durable, event: event.id, type: event.type, failures };
  if (failures >= (options.maxFailures ?? DEFAULT_MAX_FAILURES) && !isTransient(error)) {
    try {
      await deadLetter({ event, consumer: durable, failures, error });
      logger.error({ ...about, err: error }, "event stored as dead letter");
      message.ack();
      return "dead_letter";
    } catch (failure) {
      logger.warn({ ...about, err: failure }, "dead letter not stored");
    }
  } else logger.warn({ ...about, err: error }, "event processing failed; it is delivered again");
  message.nak(Math.min(30_000, 100 * 2 ** Math.min(failures, 10)));
  return "failed";
}
