import { metrics } from "@opentelemetry/api";
import { AppError } from "@statehouse/errors";
import type { Logger } from "@statehouse/runtime";
import type { Proxies } from "../proxies.ts";
import type { Middleware } from "./state.ts";
import { routeName } from "./trace.ts";

/** Logs every request with its method, route, status, duration and the client's address, and measures the duration. */
export function requestLog(logger: Logger, proxies: Proxies): Middleware {
  const durations = metrics
    .getMeter("statehouse/gateway")
    .createHistogram("statehouse_http_request_duration_seconds", { unit: "s" });
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    const { method, status } = ctx;
    const { route: matched, failure } = ctx.state;
    const route = routeName(matched);
    const seconds = (performance.now() - startedAt) / 1000;
    durations.record(seconds, { method, route, status });
    const ms = Math.round(seconds * 10_000) / 10;
    const reason = failure instanceof AppError ? reasonOf(failure) : {};
    logger.info(
      { method, route, status, ms, client: proxies.clientOf(ctx.req), ...reason },
      "request",
    );
  };
}

/** Selects what the log shows of an error. Responses never contain the cause. */
const reasonOf = ({ reason, cause }: AppError) => ({
  reason,
  ...(cause === undefined ? {} : { err: cause }),
});
