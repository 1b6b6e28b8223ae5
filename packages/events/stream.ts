import { isDeepStrictEqual } from "node:util";
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamAPI,
  type StreamConfig,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "@statehouse/runtime";
import type { Nats } from "./nats.ts";

/** The stream that contains the events of all services. */
export const STREAM = "STATEHOUSE";
/**
 * The stream of the events for the mail sender. These events contain secrets, so that a separate stream contains them:
 * no filter of the other stream can select them, and each is deleted when the mail sender has acknowledged it.
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
 * The settings that an operator chooses for the streams. If a setting is undefined, an existing stream keeps its
 * current value.
 */
export interface StreamSettings {
  /** The number of copies of each stream in the cluster: 3 in production. */
  replicas?: number | undefined;
  /** The number of days for which the stream of events keeps an event. Default of a new stream: 30. */
  maxAgeDays?: number | undefined;
  /** Maximum size of the stream of events in bytes; the oldest events are deleted first. Default: unlimited. */
  maxBytes?: number | undefined;
  /** The NATS cluster that stores the streams. */
  cluster?: string | undefined;
  /** The tags that a NATS server must have to store the streams. */
  tags?: readonly string[] | undefined;
  /** The durable consumers of subscribers that have an account of their own and cannot create them. */
  subscribers?: readonly SubscriberConsumer[] | undefined;
}

/** The durable consumer of a subscriber with an account of its own. */
export interface SubscriberConsumer {
  durable: string;
  /** The subjects to receive, with the wildcards of NATS. */
  filter: string;
}

const MAX_AGE_DAYS = 30;
const MAX_AGE_OF_MAIL_DAYS = 7;

/**
 * Creates missing streams, and changes existing ones to the settings. The number of copies is never reduced, because
 * another service of the installation can have a higher setting.
 */
export async function ensureStreams(nats: Nats, settings: StreamSettings): Promise<void> {
  const { maxAgeDays, maxBytes, cluster, tags } = settings;
  const placement = (cluster || tags) && {
    placement: { cluster: cluster ?? "", tags: [...(tags ?? [])] },
  };
  const events = {
    ...placement,
    ...(maxAgeDays !== undefined && { max_age: maxAgeDays * DAY }),
    ...(maxBytes !== undefined && { max_bytes: maxBytes }),
  };
  const { streams } = await jetstreamManager(await nats.connection());
  await ensureStream(
    streams,
    {
      ...{ name: STREAM, subjects: ["statehouse.>"], retention: RetentionPolicy.Limits },
      ...{ max_age: MAX_AGE_DAYS * DAY, ...events },
    },
    { ...events, replicas: settings.replicas },
  );
  await ensureStream(
    streams,
    {
      ...{ name: MAIL_STREAM, subjects: ["statehouse-mail.>"] },
      ...{ retention: RetentionPolicy.Workqueue, max_age: MAX_AGE_OF_MAIL_DAYS * DAY },
      ...placement,
    },
    { ...placement, replicas: settings.replicas },
  );
}

/**
 * Creates missing consumers of subscribers, and changes the filters of existing ones. If NATS refuses a consumer, the
 * error is only logged, so that it affects neither the other subscribers nor the services. Possible causes: NATS has
 * not yet loaded the subscriber's permissions, or the consumer is a second one for the messages of the mail sender.
 */
export async function ensureSubscribers(
  nats: Nats,
  subscribers: readonly SubscriberConsumer[] = [],
  logger: Logger,
): Promise<void> {
  for (const subscriber of subscribers) {
    try {
      await ensureConsumer(await nats.connection(), { ...subscriber, from: "beginning" });
    } catch (error) {
      logger.error({ err: error, ...subscriber }, "consumer of a subscriber was not created");
    }
  }
}

async function ensureStream(
  streams: StreamAPI,
  stream: Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">,
  { replicas, ...streamConfig }: Partial<StreamConfig> & Pick<StreamSettings, "replicas">,
): Promise<void> {
  try {
    const { config } = await streams.info(stream.name);
    const more = replicas !== undefined && config.num_replicas < replicas;
    const changed = { ...streamConfig, ...(more && { num_replicas: replicas }) };
    // The defaults are added, because the server omits empty members of the placement.
    const current = { ...config, placement: { cluster: "", tags: [], ...config.placement } };
    const isCurrent = Object.entries(changed).every(([name, value]) =>
      isDeepStrictEqual(Reflect.get(current, name), value),
    );
    if (!isCurrent) await streams.update(stream.name, changed);
  } catch (error) {
    if (!isApiError(error, STREAM_NOT_FOUND)) throw error;
    try {
      await streams.add({
        ...stream,
        storage: StorageType.File,
        num_replicas: replicas ?? 1,
        // A relay that crashed after publishing an event, and before deleting it from the outbox, publishes the event
        // again after a restart. The stream discards such a duplicate within this time, which cannot be longer than the
        // time for which the stream keeps events.
        duplicate_window: Math.min(3600 * SECOND, stream.max_age ?? DAY),
      });
    } catch (conflict) {
      // Another service created the stream first, with its own settings.
      if (!isApiError(conflict, STREAM_NAME_IN_USE)) throw conflict;
    }
  }
}

interface DurableOptions extends SubscriberConsumer {
  /** The position in the stream at which a new consumer begins. */
  from: "beginning" | "now";
}

/** Time after which an event that a killed replica had received is delivered to another replica. */
const ACK_WAIT_SECONDS = 15;

/**
 * Creates the durable consumer, or updates an existing one. A consumer always has exactly one filter, because only then
 * is the filter a part of the NATS subject to which the create request is sent. Permissions for that subject can
 * therefore restrict the filters that a NATS user may choose.
 */
export async function ensureConsumer(
  connection: NatsConnection,
  { durable, filter, from }: DurableOptions,
): Promise<void> {
  const { consumers } = await jetstreamManager(connection);
  const stream = streamOf(filter);
  const changeable = {
    description: `events for ${durable}`,
    filter_subject: filter,
    ack_wait: ACK_WAIT_SECONDS * SECOND,
    max_deliver: -1,
  };
  try {
    await consumers.update(stream, durable, changeable);
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
