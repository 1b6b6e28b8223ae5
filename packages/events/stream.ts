import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Nats } from "./nats.ts";

/** The stream that contains the events of all services. */
export const STREAM = "STATEHOUSE";

const SECOND = 1e9;
const DAY = 24 * 60 * 60 * SECOND;
const STREAM_NOT_FOUND = 10059;
const STREAM_NAME_IN_USE = 10058;
const CONSUMER_NOT_FOUND = 10014;
const CONSUMER_EXISTS = 10148;

/**
 * Creates the stream if it is missing. Increases the number of replicas of an existing stream, but never reduces it.
 */
export async function ensureStream(nats: Nats): Promise<void> {
  const replicas = nats.streamReplicas;
  const { streams } = await jetstreamManager(await nats.connection());
  try {
    const { config } = await streams.info(STREAM);
    if (config.num_replicas < replicas) await streams.update(STREAM, { num_replicas: replicas });
  } catch (error) {
    if (!isApiError(error, STREAM_NOT_FOUND)) throw error;
    try {
      await streams.add({
        name: STREAM,
        subjects: ["statehouse.>"],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        num_replicas: replicas,
        // A relay that crashed between publishing an event and deleting it publishes the event again after a restart.
        // Within this time the stream discards such a duplicate.
        duplicate_window: 3600 * SECOND,
        max_age: 30 * DAY,
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
  const changeable = {
    description,
    filter_subject: filter,
    ack_wait: ackWaitSeconds * SECOND,
    max_deliver: -1,
  };
  try {
    const { config } = await consumers.info(STREAM, durable);
    // Versions before 0.2 set several filters, which exclude a single one.
    const replaced = config.filter_subjects ? { filter_subjects: [] } : {};
    await consumers.update(STREAM, durable, { ...changeable, ...replaced });
  } catch (error) {
    if (!isApiError(error, CONSUMER_NOT_FOUND)) throw error;
    try {
      await consumers.add(STREAM, {
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
