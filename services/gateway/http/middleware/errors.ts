import type { Logger } from "@statehouse/runtime";
import { errorAnswer } from "../errors.ts";
import type { Middleware } from "./state.ts";

const noFailures: readonly number[] = [];

/** Turns any error of the request into a JSON:API error document. */
export const errors =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    // Responses must not be cached, unless `representation` allows it.
    ctx.set("Cache-Control", "no-store");
    ctx.set("X-Content-Type-Options", "nosniff");
    try {
      await next();
    } catch (error) {
      ctx.state.failure = error;
      const declared = ctx.state.route?.failures ?? noFailures;
      const { status, headers, errors } = errorAnswer(error, declared, logger);
      ctx.state.code = errors[0]?.code;
      ctx.status = status;
      ctx.set("Content-Type", "application/vnd.api+json");
      ctx.set(headers);
      ctx.body = JSON.stringify({ errors });
    }
  };
