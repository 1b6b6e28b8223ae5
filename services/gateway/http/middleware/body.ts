import { parseBody, parseBodyLeniently, readJson } from "../body.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

/** Reads and parses the body of routes that have one. Throws 413, `badRequest`, `invalid`. */
export const body =
  ({ body: schema, validatesOnly }: Route, maxBytes: number): Middleware =>
  async (ctx, next) => {
    ctx.state.problems = [];
    if (schema) {
      ctx.state.bodyArrivedLater = !ctx.req.complete;
      const json = await readJson(ctx.req, maxBytes);
      if (validatesOnly) Object.assign(ctx.state, parseBodyLeniently(schema, json));
      else ctx.state.body = parseBody(schema, json);
    }
    return next();
  };
