import type { BodyMemory } from "../body-memory.ts";
import type { BodyParser } from "../body-parser.ts";
import { receiveBody } from "../receive-body.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

export interface BodyOptions {
  /** The maximum size of a body on any route, in bytes. */
  maxBodyBytes: number;
  /** Time limit for receiving a body, in ms; see `limitReceiving`. */
  bodyTimeoutMs: number;
  bodyMemory: BodyMemory;
  bodyParser: BodyParser;
}

/**
 * Receives and parses the body of routes that declare one. Throws 408, 413, `badRequest`, `invalid` or `unavailable`.
 */
export const body =
  (
    route: Route,
    { maxBodyBytes, bodyTimeoutMs: timeoutMs, bodyMemory, bodyParser }: BodyOptions,
  ): Middleware =>
  async (ctx, next) => {
    ctx.state.problems = [];
    if (!route.body) return next();
    ctx.state.bodyArrivedLater = !ctx.req.complete;
    const { type, id } = ctx.state.caller.principal;
    // The memory stays reserved until the response is ready, because the parsed body is about as large as the received
    // one.
    using memory = bodyMemory.lease(`${type}/${id}`);
    const limit = Math.min(route.maxBodyBytes, maxBodyBytes);
    const bytes = await receiveBody(ctx.req, { limit, timeoutMs, memory });
    Object.assign(ctx.state, await bodyParser.parse(route, bytes));
    return await next();
  };
