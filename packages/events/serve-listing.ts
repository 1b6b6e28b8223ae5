import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { AppError, badRequest } from "@statehouse/errors";
import { type Logger, runWithDeadline } from "@statehouse/runtime";
import type { Listing } from "./listing.ts";
import { LISTING_SUBJECT, type PagePosition } from "./listing-client.ts";
import type { Nats } from "./nats.ts";
import { pauseUnless } from "./pause.ts";
import type { SubscriberConsumer } from "./stream.ts";
import { streamPosition } from "./stream-position.ts";

/** The services that list their objects, in the order in which a subscriber reads them. */
const services = ["access", "state", "workspaces"] as const;

export interface ServeListingOptions {
  nats: Nats;
  service: (typeof services)[number];
  listing: Listing;
  /**
   * The subscribers with accounts of their own. If it is undefined, there are none: all clients use the account of the
   * services, and each may list everything.
   */
  subscribers: readonly SubscriberConsumer[] | undefined;
  logger: Logger;
}

/** All replicas subscribe with this queue group, so that only one of them receives a request. */
const QUEUE = "listing";
/** The part of the maximum size of a message that a response reserves for everything except its events. */
const RESERVED_BYTES = 4096;
/** The maximum number of requests of a subscriber that wait to be processed. Further requests are refused. */
const MAX_WAITING = 100;
const REQUEST_MS = 10_000;
const RETRY_MS = 500;

/**
 * Responds to requests of subscribers over NATS: with the objects of the service, and with the position of the stream.
 * A subscriber is identified by the subject of its request. Only the configuration of the NATS server determines this
 * subject: the import of the subscriber's account appends the name of the subscriber. The content of a request can
 * narrow the subscriber's filter, but not widen it.
 */
export function serveListing(options: ServeListingOptions): AsyncDisposable {
  const { nats } = options;
  const stop = Promise.withResolvers<void>();
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const connection = await Promise.race([nats.connection(), stop.promise]);
      if (!connection) return;
      try {
        await using _subscriptions = subscribeTo(connection, options);
        await Promise.race([connection.closed(), stop.promise]);
      } catch (error) {
        options.logger.warn({ err: error }, "listing not served");
      }
      await pauseUnless(stop.promise, RETRY_MS);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      stop.resolve();
      await running;
      await nats.ready().catch(() => {}); // flushes the last response if the server is available
    },
  };
}

function subscribeTo(connection: NatsConnection, options: ServeListingOptions): AsyncDisposable {
  const served = options.subscribers?.map(({ durable, filter }) =>
    serveSubscriber(connection, { suffix: `.${durable}`, filter }, options),
  ) ?? [serveSubscriber(connection, { suffix: "", filter: "statehouse.>" }, options)];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(served.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

interface Requester {
  /** The end of the subjects of the subscriber's requests. */
  suffix: string;
  /** The subjects of the events that the subscriber may list. */
  filter: string;
}

/**
 * Responds to the requests of one subscriber, one after the other, so that a subscriber uses at most one connection to
 * the database of each replica.
 */
function serveSubscriber(
  connection: NatsConnection,
  { suffix, filter }: Requester,
  options: ServeListingOptions,
): AsyncDisposable {
  const { nats, service, logger } = options;
  let last = Promise.resolve();
  let waiting = 0;
  const serve = (name: string, responseTo: (message: Msg) => Promise<string>): Subscription =>
    connection.subscribe(`${LISTING_SUBJECT}.${name}${suffix}`, {
      queue: QUEUE,
      callback(error, message) {
        if (error) {
          logger.warn({ err: error, name }, "listing not served");
        } else if (waiting === MAX_WAITING) {
          message.respond(
            errorResponse("Too many requests are waiting; repeat the request later."),
          );
        } else {
          waiting += 1;
          last = last
            .then(() => {
              waiting -= 1;
              return respond(message, () => responseTo(message), logger);
            })
            .catch((failure: unknown) => logger.warn({ err: failure }, "response not sent"));
        }
      },
    });
  const subscriptions = [
    serve(service, (message) => pageFor(message, filter, connection, options)),
    serve("stream", async () => JSON.stringify(await streamPosition(nats))),
  ];
  return {
    async [Symbol.asyncDispose]() {
      for (const subscription of subscriptions) subscription.unsubscribe();
      await last;
    },
  };
}

const errorResponse = (error: string): string => JSON.stringify({ error });

async function respond(
  message: Msg,
  response: () => Promise<string>,
  logger: Logger,
): Promise<void> {
  try {
    message.respond(await runWithDeadline(Date.now() + REQUEST_MS, response));
  } catch (error) {
    const isExpected = error instanceof AppError;
    if (!isExpected) logger.error({ err: error, subject: message.subject }, "listing failed");
    message.respond(errorResponse(isExpected ? error.message : "The request failed."));
  }
}

async function pageFor(
  message: Msg,
  granted: string,
  connection: NatsConnection,
  { service, listing }: ServeListingOptions,
): Promise<string> {
  const { filter, cursor } = requestIn(message);
  const filters = filter === undefined ? [granted] : [granted, filter];
  const maxBytes = (connection.info?.max_payload ?? 0) - RESERVED_BYTES;
  const { events, nextCursor } = await listing({ filters, cursor, maxBytes });
  const next = positionAfter(service, nextCursor);
  // Each of the events is JSON.
  return `{"events":[${events.join(",")}]${next ? `,"next":${JSON.stringify(next)}` : ""}}`;
}

/** Returns the position of the next page; undefined if there is none. */
function positionAfter(
  service: ServeListingOptions["service"],
  cursor: string,
): PagePosition | undefined {
  if (cursor !== "") return { service, cursor };
  const following = services[services.indexOf(service) + 1];
  return following && { service: following, cursor: "" };
}

/** Reads the content of a request: `{"filter": "statehouse.workspaces.>", "cursor": "…"}`. Both are optional. */
function requestIn(message: Msg): { filter: string | undefined; cursor: string } {
  const { filter, cursor = "" } = objectIn(message.string());
  if (typeof cursor !== "string") throw badRequest("cursor", "Cursor must be a text.");
  if (filter === undefined) return { filter, cursor };
  if (typeof filter === "string" && FILTER.test(filter)) return { filter, cursor };
  throw badRequest(
    "filter",
    "Filter must be a subject, which can contain the wildcards * and >, for example statehouse.workspaces.>.",
  );
}

const FILTER = /^(?=.{1,256}$)[\w*>-]+(\.[\w*>-]+)*$/;

function objectIn(text: string): { filter?: unknown; cursor?: unknown } {
  try {
    return { ...JSON.parse(text === "" ? "{}" : text) };
  } catch {
    throw badRequest("request", "The request is not valid JSON.");
  }
}
