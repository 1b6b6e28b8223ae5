import { metrics } from "@opentelemetry/api";
import { AppError } from "@statehouse/errors";
import { failedService } from "@statehouse/rpc";
import { durationHistogram, type Logger, type Proxies } from "@statehouse/runtime";
import type { Middleware, RequestCtx } from "./state.ts";
import { routeName } from "./trace.ts";

/**
 * Logs every request with its method, route, status, duration and the client's address, with who sent it and what it is
 * about, and measures the duration. Failures of Statehouse are errors.
 */
export function requestLog(logger: Logger, proxies: Proxies): Middleware {
  const durations = durationHistogram("statehouse/gateway", {
    name: "statehouse_http_request_duration_seconds",
    description: "Duration of requests to the API, from their headers to the response",
  });
  const inProgress = metrics
    .getMeter("statehouse/gateway")
    .createUpDownCounter("statehouse_http_requests_in_progress", {
      description: "Requests to the API that have no response yet",
    });
  return async (ctx, next) => {
    const startedAt = performance.now();
    inProgress.add(1);
    await next().finally(() => inProgress.add(-1));
    const { method, status } = ctx;
    const { route: matched, failure } = ctx.state;
    const route = routeName(matched);
    const seconds = (performance.now() - startedAt) / 1000;
    durations.record(seconds, { method, route, status });
    const ms = Math.round(seconds * 10_000) / 10;
    const reason = failure instanceof AppError ? reasonOf(failure) : {};
    const client = proxies.clientOf(ctx.req);
    logger[status >= 500 ? "error" : "info"](
      { method, route, status, ms, client, ...subjectOf(ctx), ...reason },
      "request",
    );
  };
}

/** Names the caller, the organization and the workspace as the path does, and what the request failed with. */
function subjectOf(ctx: Pick<RequestCtx, "state"> & { params?: Record<string, string> }): object {
  const { params: { organizationName, workspaceId } = {} } = ctx;
  const { caller, code, failure } = ctx.state;
  const actor = caller?.principal.id;
  const service = failedService(failure);
  return {
    ...(actor && { actor }),
    ...(organizationName && { organization: organizationName }),
    ...(workspaceId && { workspace: workspaceId }),
    ...(code && { code }),
    ...(service && { service }),
  };
}

/** Selects what the log shows of an error. Responses never contain the cause. */
const reasonOf = ({ reason, cause }: AppError) => ({
  reason,
  ...(cause === undefined ? {} : { err: cause }),
});
