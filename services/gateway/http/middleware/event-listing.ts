import { AppError, badRequest, unauthenticated } from "@statehouse/errors";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import type { SubscriberService } from "@statehouse/proto/statehouse/access/v1/subscriber";
import type { ListingService } from "@statehouse/proto/statehouse/events/v1/listing";
import type { Client } from "@statehouse/rpc";
import {
  type AuthenticationLimit,
  authenticationFailures,
  nkeyCredentialOf,
  runWithDeadline,
} from "@statehouse/runtime";
import type { Settings } from "../route.ts";
import type { Middleware, RequestCtx } from "./state.ts";

/** The services that publish events, in the order in which their objects are listed. */
const services = ["access", "state", "workspaces"] as const;
type Publisher = (typeof services)[number];

export interface EventListingOptions {
  /** Clients with the gateway's own identity. */
  listings: Readonly<Record<Publisher, Client<typeof ListingService>>>;
  subscribers: Client<typeof SubscriberService>;
  authenticationLimit: AuthenticationLimit;
  settings: Settings;
  /** Time limit of a request, in ms. */
  requestTimeoutMs: number;
}

const BASE = "/events/v1/";
const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 1000;

/**
 * Serves two requests of event subscribers, which are not part of the public API: one lists the existing objects, as
 * events in JSON lines; the other shows when the event stream was created and its first and last sequence numbers. Both
 * require a subscriber's nkey. The list contains only objects that match the filter granted to the subscriber.
 * docs/events.md describes the requests.
 */
export function eventListing(options: EventListingOptions): Middleware {
  const failed = authenticationFailures("nkey");
  const authenticate = async (ctx: RequestCtx): Promise<string> => {
    const credential = nkeyCredentialOf(ctx.req.headers.authorization);
    if (credential === undefined) {
      failed("missing");
      throw unauthenticated("The request has no nkey credential in its Authorization header.");
    }
    try {
      const { filter } = await options.authenticationLimit.run(ctx.req, () =>
        options.subscribers.authenticateSubscriber({
          credential,
          origin: options.settings.publicUrl,
          target: ctx.req.url ?? "",
        }),
      );
      return filter;
    } catch (error) {
      if (error instanceof AppError && error.kind === "unauthenticated") failed("refused");
      throw error;
    }
  };
  const handlers = new Map<string, (ctx: RequestCtx, filter: string) => Promise<void>>([
    ["stream", (ctx) => showStream(ctx, options)],
    ["objects", (ctx, filter) => listObjects(ctx, filter, options)],
  ]);
  return async (ctx, next) => {
    if (!ctx.path.startsWith(BASE)) return next();
    const handle = handlers.get(ctx.path.slice(BASE.length));
    if (!handle) throw unknownAddress();
    if (ctx.method !== "GET") throw methodNotAllowed(["GET"]);
    await runWithDeadline(Date.now() + options.requestTimeoutMs, async () =>
      handle(ctx, await authenticate(ctx)),
    );
  };
}

async function showStream(ctx: RequestCtx, { listings }: EventListingOptions): Promise<void> {
  const { stream, created, firstSequence, lastSequence } = await listings.workspaces.getStream({});
  ctx.set("Content-Type", "application/json");
  ctx.body = JSON.stringify({
    stream,
    created,
    firstSequence: Number(firstSequence),
    lastSequence: Number(lastSequence),
  });
}

async function listObjects(
  ctx: RequestCtx,
  granted: string,
  { listings }: EventListingOptions,
): Promise<void> {
  const query = new URLSearchParams(ctx.querystring);
  const filter = query.get("filter");
  const limit = limitOf(query.get("limit"));
  const { publisher, cursor } = positionOf(query.get("cursor"));
  const filters = [granted, ...(filter === null ? [] : [filterOf(filter)])];
  const page = await listings[publisher].listObjects({ filters, cursor, limit });
  const following = services[services.indexOf(publisher) + 1];
  if (page.nextCursor !== "") ctx.set("Statehouse-Cursor", encode(publisher, page.nextCursor));
  else if (following) ctx.set("Statehouse-Cursor", encode(following, ""));
  ctx.set("Content-Type", "application/x-ndjson");
  ctx.body = page.events.map((event) => `${event}\n`).join("");
}

function limitOf(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (/^\d{1,4}$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw badRequest("limit", `Limit must be a number from 1 to ${MAX_LIMIT}.`);
}

function filterOf(text: string): string {
  if (/^[\w*>-]+(\.[\w*>-]+)*$/.test(text) && text.length <= 256) return text;
  throw badRequest(
    "filter",
    "Filter must be a subject, which can contain the wildcards * and >, for example statehouse.workspaces.>.",
  );
}

/** Returns the cursor of a page, which consists of the service's name and the cursor that the service returned. */
const encode = (publisher: Publisher, cursor: string): string =>
  Buffer.from(`${publisher}/${cursor}`).toString("base64url");

function positionOf(text: string | null): { publisher: Publisher; cursor: string } {
  if (text === null) return { publisher: services[0], cursor: "" };
  const decoded = Buffer.from(text, "base64url").toString();
  const publisher = services.find((name) => decoded.startsWith(`${name}/`));
  if (publisher && !decoded.includes("\0")) {
    return { publisher, cursor: decoded.slice(publisher.length + 1) };
  }
  throw badRequest("cursor", "Cursor is invalid; begin the listing again.");
}
