import type { BodyMemory } from "../body-memory.ts";
import type { BodyParser } from "../body-parser.ts";
import { receiveBody } from "../receive-body.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

export interface BodyOptions {
  /** The largest body of any route, in bytes. */
  maxBodyBytes: number;
  /** For the arrival of a body, in ms; see `limitReceiving`. */
  bodyTimeoutMs: number;
  bodyMemory: BodyMemory;
  bodyParser: BodyParser;
}

/** Receives and parses the body of routes that have one. Throws 408, 413, `badRequest`, `invalid`, `unavailable`. */
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
    // Until the response is ready, because the parsed body is as large.
    using memory = bodyMemory.lease(`${type}/${id}`);
    const limit = Math.min(route.maxBodyBytes, maxBodyBytes);
    const bytes = await receiveBody(ctx.req, { limit, timeoutMs, memory });
    Object.assign(ctx.state, await bodyParser.parse(route, bytes));
    return await next();
  };
