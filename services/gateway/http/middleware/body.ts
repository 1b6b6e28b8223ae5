import { parseBody, parseBodyLeniently, parseJson } from "../body.ts";
import type { BodyMemory } from "../body-memory.ts";
import { receiveBody } from "../receive-body.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

export interface BodyOptions {
  /** The largest body of any route, in bytes. */
  maxBodyBytes: number;
  /** For the arrival of a body, in ms; see `limitReceiving`. */
  bodyTimeoutMs: number;
  bodyMemory: BodyMemory;
}

/** Receives and parses the body of routes that have one. Throws 408, 413, `badRequest`, `invalid`, `unavailable`. */
export const body =
  (
    { body: schema, validatesOnly, maxBodyBytes: ofRoute }: Route,
    { maxBodyBytes, bodyTimeoutMs: timeoutMs, bodyMemory }: BodyOptions,
  ): Middleware =>
  async (ctx, next) => {
    ctx.state.problems = [];
    if (!schema) return next();
    ctx.state.bodyArrivedLater = !ctx.req.complete;
    const { type, id } = ctx.state.caller.principal;
    // Until the response is ready, because the parsed body is as large.
    using memory = bodyMemory.lease(`${type}/${id}`);
    const limit = Math.min(ofRoute, maxBodyBytes);
    const json = parseJson(await receiveBody(ctx.req, { limit, timeoutMs, memory }));
    if (validatesOnly) Object.assign(ctx.state, parseBodyLeniently(schema, json));
    else ctx.state.body = parseBody(schema, json);
    return await next();
  };
