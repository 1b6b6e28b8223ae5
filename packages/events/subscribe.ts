/**
 * The part of this package that needs no database. External services import it to subscribe to events: `import {
 * connectNats, on, subscribe } from "@statehouse/events/subscribe"`.
 */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { JsMsg } from "@nats-io/jetstream";
import { decode, type Event, eventFrom, eventType } from "./event.ts";
import {
  DEFAULT_MAX_FAILURES,
  type FailureOptions,
  failed,
  type Outcome,
  type ReceiveOptions,
  receiveMessages,
  requireReachable,
} from "./receive.ts";
import { createSnapshots, type SnapshotOptions, withRetries } from "./snapshot.ts";
import { type InTrace, inOpenTelemetry } from "./tracing.ts";

export { type AuthContext, decode, type Event, eventType } from "./event.ts";
export { connectNats, type Nats, type NatsOptions } from "./nats.ts";
export type { NatsLogin, NatsTls, Renewable } from "./nats-login.ts";
export type { FailedEvent, Logger } from "./receive.ts";
export {
  type Checkpoint,
  type CheckpointStore,
  checkpointFile,
  type SnapshotOptions,
} from "./snapshot.ts";

/**
 * Processes one event in a separate transaction. Must apply the event only if the revision that the subscriber has
 * stored for the object is lower than the event's.
 */
export type EventHandler = (event: Event) => Promise<void>;

/** Event handlers by event type. */
export type EventHandlers = Readonly<Record<string, EventHandler>>;

/**
 * Creates one entry of `handlers`, whose function receives the decoded message: `{ ...on(WorkspaceLockedSchema, …) }`.
 */
export function on<Schema extends DescMessage>(
  schema: Schema,
  handle: (message: MessageShape<Schema>, event: Event) => Promise<void>,
): EventHandlers {
  return { [eventType(schema)]: (event) => handle(decode(event, schema), event) };
}

/**
 * `durable` is the name of the durable consumer: replicas with the same name share the events. It may contain letters,
 * digits, `-` and `_`.
 */
export interface SubscribeOptions
  extends Omit<ReceiveOptions, "batch" | "compare" | "prepare" | "receive">,
    FailureOptions {
  handlers: EventHandlers;
  /** Processes events of all other types. Default: they are acknowledged. */
  otherwise?: EventHandler;
  /**
   * How the subscriber takes a snapshot of all existing objects: before it receives the first event, and when the
   * stream was lost or has deleted events that the subscriber did not receive.
   */
  snapshot?: SnapshotOptions;
  /** How processing joins the event's trace. Default: the OpenTelemetry of the process, if it has one. */
  inTrace?: InTrace;
}

/**
 * Receives the stream's events one at a time through a durable consumer with explicit acknowledgement. Each event is
 * received at least once. Events of one subject are received in order, except after a failure to publish or to process
 * one of them. Disposal stops the subscription after the current event. Throws if the filter excludes the type of a
 * handler. Waits while the stream does not exist: only Statehouse creates it.
 */
export function subscribe(options: SubscribeOptions): AsyncDisposable {
  requireReachable(options.filter, Object.keys(options.handlers));
  if (options.snapshot && options.from === "now") {
    throw new Error("A subscription with snapshots begins with the oldest event, not now.");
  }
  let isStopped = false;
  const subscription = receiveMessages({
    ...options,
    ...snapshotHooks(options, () => isStopped),
    // One event at a time: if a process is killed, only the event that it was processing is delayed.
    batch: 1,
    async receive(messages) {
      const outcomes: Outcome[] = [];
      for (const message of messages) outcomes.push(await receive(options, message));
      return outcomes;
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await subscription[Symbol.asyncDispose]();
    },
  };
}

const COMPARE_EVERY_MS = 30_000;

/**
 * Returns the functions that take a snapshot when the subscription is opened and that detect when another snapshot is
 * necessary.
 */
function snapshotHooks(
  options: SubscribeOptions,
  isStopped: () => boolean,
): Pick<ReceiveOptions, "prepare" | "compare"> {
  const { nats, snapshot, filter, durable, handlers, otherwise, logger } = options;
  if (!snapshot) return {};
  const retries = {
    maxFailures: options.maxFailures ?? DEFAULT_MAX_FAILURES,
    isTransient: options.isTransient ?? (() => false),
    isStopped,
    deadLetter: async (event: Event, failures: number, error: unknown) => {
      await options.deadLetter({ event, consumer: durable, failures, error });
      logger.error({ err: error, event: event.id }, "event stored as dead letter");
    },
  };
  const snapshots = createSnapshots(snapshot, {
    nats,
    filter,
    log: (about, message) => logger.info({ ...about, consumer: durable }, message),
    handle: async (event) => {
      if (isStopped()) throw new Error("the subscription was stopped");
      const handle = handlers[event.type] ?? otherwise;
      if (handle) await withRetries(event, handle, retries);
    },
  });
  return {
    prepare: () => snapshots.take(),
    compare: {
      everyMs: snapshot.compareEveryMs ?? COMPARE_EVERY_MS,
      run: (isCaughtUp) => snapshots.compare(isCaughtUp),
    },
  };
}

async function receive(options: SubscribeOptions, message: JsMsg): Promise<Outcome> {
  const event = eventFrom(message);
  const handle = options.handlers[event.type] ?? options.otherwise;
  if (!handle) {
    message.ack();
    return "ignored";
  }
  const attributes = {
    "messaging.system": "nats",
    "messaging.message.id": event.id,
    "messaging.consumer.group.name": options.durable,
  };
  const { inTrace = inOpenTelemetry } = options;
  return inTrace(`process ${event.type}`, event.traceparent, attributes, async () => {
    try {
      await handle(event);
      message.ack();
      return "handled";
    } catch (error) {
      return failed(options, message, event, error);
    }
  });
}
