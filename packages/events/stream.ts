import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Nats } from "./nats.ts";

/** The stream that contains the events of all services. */
export const STREAM = "STATEHOUSE";
/**
 * The stream of what the mail sender sends. Its messages contain secrets, so it is separate from the events: no filter
 * of the other stream can reach them, and a message is deleted when the mail sender has acknowledged it.
 */
export const MAIL_STREAM = "STATEHOUSE_MAIL";

/** Returns the stream that contains the subjects of a type or a filter. */
export const streamOf = (subject: string): typeof STREAM | typeof MAIL_STREAM =>
  subject.startsWith("statehouse-mail.") ? MAIL_STREAM : STREAM;

const SECOND = 1e9;
const DAY = 24 * 60 * 60 * SECOND;
const STREAM_NOT_FOUND = 10059;
const STREAM_NAME_IN_USE = 10058;
const CONSUMER_NOT_FOUND = 10014;
const CONSUMER_EXISTS = 10148;

/**
 * Creates the streams that are missing. Increases the number of replicas of existing streams, but never reduces it.
 */
export async function ensureStreams(nats: Nats): Promise<void> {
  await ensureStream(nats, {
    name: STREAM,
    subjects: ["statehouse.>"],
    retention: RetentionPolicy.Limits,
    max_age: 30 * DAY,
  });
  await ensureStream(nats, {
    name: MAIL_STREAM,
    subjects: ["statehouse-mail.>"],
    retention: RetentionPolicy.Workqueue,
    max_age: 7 * DAY,
  });
}

async function ensureStream(
  nats: Nats,
  stream: Pick<StreamConfig, "name" | "subjects" | "retention" | "max_age">,
): Promise<void> {
  const replicas = nats.streamReplicas;
  const { name } = stream;
  const { streams } = await jetstreamManager(await nats.connection());
  try {
    const { config } = await streams.info(name);
    if (config.num_replicas < replicas) await streams.update(name, { num_replicas: replicas });
  } catch (error) {
    if (!isApiError(error, STREAM_NOT_FOUND)) throw error;
    try {
      await streams.add({
        ...stream,
        storage: StorageType.File,
        num_replicas: replicas,
        // A relay that crashed between publishing an event and deleting it publishes the event again after a restart.
        // Within this time the stream discards such a duplicate.
        duplicate_window: 3600 * SECOND,
      });
    } catch (conflict) {
      // Another service created the stream first, with its own settings.
      if (!isApiError(conflict, STREAM_NAME_IN_USE)) throw conflict;
    }
  }
}

export interface DurableOptions {
  durable: string;
  /** The subjects to receive, with the wildcards of NATS. */
  filter: string;
  description: string;
  /** The position in the stream at which a new consumer begins. */
  from: "beginning" | "now";
  ackWaitSeconds: number;
}

/**
 * Creates the durable consumer, or updates the filter of an existing one. It has one filter, because only then the
 * subject of the request contains the filter, so that the permissions of NATS can limit it.
 */
export async function ensureConsumer(
  connection: NatsConnection,
  { durable, filter, description, from, ackWaitSeconds }: DurableOptions,
): Promise<void> {
  const { consumers } = await jetstreamManager(connection);
  const stream = streamOf(filter);
  const changeable = {
    description,
    filter_subject: filter,
    ack_wait: ackWaitSeconds * SECOND,
    max_deliver: -1,
  };
  try {
    const { config } = await consumers.info(stream, durable);
    // Versions before 0.2 set several filters, which exclude a single one.
    const replaced = config.filter_subjects ? { filter_subjects: [] } : {};
    await consumers.update(stream, durable, { ...changeable, ...replaced });
  } catch (error) {
    if (!isApiError(error, CONSUMER_NOT_FOUND)) throw error;
    try {
      await consumers.add(stream, {
        ...changeable,
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: from === "now" ? DeliverPolicy.New : DeliverPolicy.All,
      });
    } catch (conflict) {
      // Another replica created the consumer first.
      if (!isApiError(conflict, CONSUMER_EXISTS)) throw conflict;
    }
  }
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
