import { setTimeout as sleep } from "node:timers/promises";
import { type Consumer, type ConsumerMessages, type JsMsg, jetstream } from "@nats-io/jetstream";
import { metrics } from "@opentelemetry/api";
import { type Event, reaches } from "./event.ts";
import type { Nats } from "./nats.ts";
import { pauseUnless } from "./pause.ts";
import { ensureConsumer, MAIL_STREAM, streamOf } from "./stream.ts";

type Log = (about: Record<string, unknown>, message: string) => void;

/** The logger of a subscription. A pino logger can be passed. */
export interface Logger {
  info: Log;
  warn: Log;
  error: Log;
}

const outcomes = ["handled", "ignored", "failed", "dead_letter"] as const;
export type Outcome = (typeof outcomes)[number];

export interface ReceiveOptions {
  nats: Nats;
  durable: string;
  /** The subjects to receive, which can contain wildcards: `statehouse.state.>`. */
  filter: string;
  /** The position in the stream at which a new subscription begins. */
  from?: "beginning" | "now";
  /** The maximum number of messages that `receive` gets in one call. */
  batch: number;
  /** Called each time the subscription is opened, before the durable consumer is created. */
  prepare?(): Promise<void>;
  /**
   * `run` is called every `everyMs` ms while messages are received. If it returns false, the subscription is opened
   * again.
   */
  compare?: {
    everyMs: number;
    run(isCaughtUp: () => Promise<boolean>): Promise<boolean>;
  };
  /** Acknowledges each message or returns it to the stream. Returns one outcome for each message, in the same order. */
  receive(messages: readonly JsMsg[]): Promise<readonly Outcome[]>;
  logger: Logger;
}

/** Throws if the filter excludes one of these event types, because its handler would never be called. */
export function requireReachable(filter: string, types: readonly string[]): void {
  const excluded = types.filter((type) => !reaches(filter, type));
  if (excluded.length > 0) {
    throw new Error(`The filter ${filter} excludes the handled events ${excluded.join(", ")}.`);
  }
}

const STILL_WORKING_MS = 5000;
const CONNECTED_AFTER_MS = 3000;
const RETRY_MS = 500;

/**
 * Receives the stream's messages through a durable consumer with explicit acknowledgement, each at least once. Messages
 * that arrive while a batch is being processed form the next batch. Disposal stops after the current batch.
 */
export function receiveMessages(options: ReceiveOptions): AsyncDisposable {
  const { nats, durable, logger } = options;
  const received = metrics
    .getMeter("statehouse/events")
    .createCounter("statehouse_events_received_total", {
      description: "Events received, by consumer and outcome",
    });
  // The time series of all outcomes are created at the start, so that Prometheus can compute a rate from the first
  // failure.
  for (const outcome of outcomes) received.add(0, { consumer: durable, outcome });
  const stop = Promise.withResolvers<void>();
  let stopped = false;
  let messages: ConsumerMessages | undefined;

  const process = async (queue: JsMsg[]): Promise<void> => {
    while (queue.length > 0 && !stopped) {
      const batch = queue.splice(0, options.batch);
      const working = setInterval(() => {
        for (const message of [...batch, ...queue]) message.working();
      }, STILL_WORKING_MS);
      try {
        for (const outcome of await options.receive(batch)) {
          received.add(1, { consumer: durable, outcome });
        }
      } finally {
        clearInterval(working);
      }
    }
    // Returns unprocessed messages to the stream, so that another replica receives them immediately.
    for (const message of queue.splice(0)) message.nak();
  };

  const receiveAll = async (from: ConsumerMessages): Promise<void> => {
    const queue: JsMsg[] = [];
    let processing: Promise<void> | undefined;
    try {
      for await (const message of from) {
        queue.push(message);
        // Processing begins in the next turn of the event loop, so that messages that arrived together form one batch.
        processing ??= new Promise<void>((resolve) => setImmediate(resolve))
          .then(() => process(queue))
          .finally(() => {
            processing = undefined;
          });
        if (queue.length >= options.batch) await processing;
      }
    } finally {
      await processing;
    }
  };

  const run = async (): Promise<void> => {
    let failing = false;
    while (!stopped) {
      try {
        const opened = await open(options, stop.promise);
        messages = opened?.messages;
        if (failing && messages) logger.info({ consumer: durable }, "event subscription resumed");
        failing = false;
        // Disposal can have happened while the subscription was being opened.
        if (stopped) messages?.stop();
        if (!opened || stopped) return;
        using _comparison = compareRegularly(options, opened);
        await receiveAll(opened.messages);
      } catch (error) {
        if (stopped) return;
        if (!failing) logger.warn({ err: error, consumer: durable }, "event subscription lost");
        failing = true;
      }
      if (!stopped) await pauseUnless(stop.promise, RETRY_MS);
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

interface Opened {
  messages: ConsumerMessages;
  consumer: Consumer;
}

/**
 * Calls `compare.run` immediately and then every `everyMs` ms. Ends the subscription if a call returns false, or if the
 * durable consumer no longer exists.
 */
function compareRegularly(
  { compare, durable, logger }: ReceiveOptions,
  { messages, consumer }: Opened,
): Disposable | undefined {
  if (!compare) return undefined;
  let isRunning = false;
  const isCaughtUp = async () => {
    const { num_pending, num_ack_pending } = await consumer.info(false);
    return num_pending + num_ack_pending === 0;
  };
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      if (!(await compare.run(isCaughtUp))) messages.stop();
    } catch (error) {
      if (error instanceof Error && error.name === "ConsumerNotFoundError") messages.stop();
      logger.warn({ err: error, consumer: durable }, "stream position not compared");
    } finally {
      isRunning = false;
    }
  };
  void run();
  const timer = setInterval(run, compare.everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function open(options: ReceiveOptions, stop: Promise<void>): Promise<Opened | undefined> {
  const { nats, durable, filter, from = "beginning", batch, prepare } = options;
  const late = sleep(CONNECTED_AFTER_MS, "late" as const, { ref: false });
  const connection = await Promise.race([nats.connection(), stop, late]);
  if (!connection) return undefined;
  if (connection === "late") {
    // Throws the reason why there is no connection, for example that the login is refused.
    await nats.ready();
    return open(options, stop);
  }
  await prepare?.();
  const { domain } = nats;
  // A subscriber with its own account cannot create consumers: the services create the consumer that its account
  // imports.
  if (domain === undefined) await ensureConsumer(connection, { durable, filter, from });
  const client = jetstream(connection, domain === undefined ? {} : { domain });
  const consumer = await client.consumers.get(streamOf(filter), durable).catch((error: unknown) => {
    // The error is compared by name, because the library does not export the class.
    if (!(error instanceof Error && error.name === "JetStreamNotEnabled")) throw error;
    throw new Error(
      `The consumer ${durable} cannot be reached: this login does not import it, or NATS has no JetStream.`,
    );
  });
  const { config } = await consumer.info(true);
  if (config.filter_subject !== filter) {
    throw new Error(
      `The consumer ${durable} has the filter ${config.filter_subject}; this subscription needs the filter ${filter}.`,
    );
  }
  // If the stream was deleted and created again, the durable consumer no longer exists: the subscription then ends and
  // is created again.
  const messages = await consumer.consume({
    max_messages: batch,
    abort_on_missing_resource: true,
  });
  return { messages, consumer };
}

/** An event that has failed at least `maxFailures` times. */
export interface FailedEvent {
  event: Event;
  consumer: string;
  failures: number;
  error: unknown;
}

export interface FailureOptions {
  durable: string;
  /**
   * Stores an event that has failed `maxFailures` times, so that it does not block later events. If storing fails too,
   * the event is retried later. The content of an event for the mail sender is removed first, because it contains a
   * secret.
   */
  deadLetter: (failed: FailedEvent) => Promise<void>;
  /** Returns whether an error is temporary and not caused by the event. Such errors never lead to a dead letter. */
  isTransient?: (error: unknown) => boolean;
  maxFailures?: number;
  logger: Logger;
}

export const DEFAULT_MAX_FAILURES = 8;

/**
 * Returns the event. The returned event has no content if it is for the mail sender, because a dead letter must not
 * contain the secret in the content.
 */
const withoutSecrets = (event: Event): Event =>
  streamOf(event.type) === MAIL_STREAM ? { ...event, json: "{}" } : event;

/** Returns a failed message to the stream with a growing delay, or stores it as a dead letter. */
export async function failed(
  { durable, deadLetter, isTransient = () => false, logger, ...options }: FailureOptions,
  message: JsMsg,
  event: Event,
  error: unknown,
): Promise<"failed" | "dead_letter"> {
  const failures = message.info.deliveryCount;
  const about = { consumer: durable, event: event.id, type: event.type, failures };
  if (failures >= (options.maxFailures ?? DEFAULT_MAX_FAILURES) && !isTransient(error)) {
    try {
      await deadLetter({ event: withoutSecrets(event), consumer: durable, failures, error });
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
