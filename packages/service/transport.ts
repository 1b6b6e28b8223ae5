import { unavailable } from "@statehouse/errors";
import {
  type Consumer,
  connectNats,
  type LocalBus,
  type StreamPosition,
  startConsumer,
  startLocalRelay,
  startRelay,
  streamPosition,
} from "@statehouse/events";
import type { Database } from "@statehouse/postgres";
import type { Logger } from "@statehouse/runtime";
import type { BaseConfig } from "./definition.ts";
import { natsOptions, streamSettings } from "./nats-options.ts";

/** Publishes the events of a service and delivers events of other services to it. */
export interface Transport {
  consume(consumer: Consumer): void;
  ready(): Promise<void>;
  /** Returns the creation time and the range of sequence numbers of the event stream. Throws `unavailable`. */
  stream(): Promise<StreamPosition>;
}

interface Events {
  database: Database;
  service: string;
  source: string;
  logger: Logger;
}

export function natsTransport(
  settings: BaseConfig,
  events: Events,
  stack: AsyncDisposableStack,
): Transport {
  const { service: name } = events;
  const inboxPrefix = `_INBOX_${name}`;
  const nats = stack.use(connectNats({ ...natsOptions(settings), name, inboxPrefix }));
  const stream = streamSettings(settings);
  stack.use(startRelay({ ...events, nats, stream }));
  return {
    consume: (consumer) => void stack.use(startConsumer({ ...events, nats, stream, ...consumer })),
    ready: () => nats.ready(),
    stream: () => streamPosition(nats),
  };
}

export function localTransport(
  bus: LocalBus,
  events: Events,
  stack: AsyncDisposableStack,
): Transport {
  stack.use(startLocalRelay({ ...events, bus }));
  return {
    consume: (consumer) => void stack.use(bus.subscribe(consumer, events.logger)),
    ready: async () => {
      throw new Error("no NATS server runs; events for subscribers wait in the outbox");
    },
    stream: async () => {
      throw unavailable("stream", "No NATS server runs, so there is no stream of events.");
    },
  };
}
