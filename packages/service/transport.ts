import {
  type Consumer,
  connectNats,
  type Listing,
  type LocalBus,
  serveListing,
  startConsumer,
  startLocalRelay,
  startRelay,
} from "@statehouse/events";
import type { Database } from "@statehouse/postgres";
import type { Logger } from "@statehouse/runtime";
import type { ServiceName } from "./channels.ts";
import type { BaseConfig } from "./definition.ts";
import { natsOptions, streamSettings } from "./nats-options.ts";

/** Publishes the events of a service and delivers events of other services to it. */
export interface Transport {
  consume(consumer: Consumer): void;
  /** Responds to subscribers that list the objects of the service. */
  serveListing(listing: Listing): void;
  ready(): Promise<void>;
}

interface Events {
  database: Database;
  service: ServiceName;
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
    serveListing: (listing) =>
      void stack.use(
        serveListing({ ...events, nats, listing, subscribers: settings.EVENT_SUBSCRIBERS }),
      ),
    ready: () => nats.ready(),
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
    // Subscribers connect to NATS. Without it, there are none.
    serveListing() {},
    ready: async () => {
      throw new Error("no NATS server runs; events for subscribers wait in the outbox");
    },
  };
}
