import { traceId, withServerSpan } from "@statehouse/runtime";
import type { Middleware } from "./state.ts";

/** Runs the request in a span, which continues the client's trace, and returns the trace id to the client. */
export const trace: Middleware = (ctx, next) =>
  withServerSpan(
    ctx.method,
    ctx.req.headers.traceparent?.toString(),
    { "http.request.method": ctx.method },
    async (span) => {
      ctx.set("X-Request-Id", traceId() ?? "");
      await next();
      const route = routeName(ctx.state.route);
      span.updateName(`${ctx.method} ${route}`);
      span.setAttribute("http.route", route);
      span.setAttribute("http.response.status_code", ctx.status);
    },
  );

/** Never the path of the request: paths contain names and other text from clients. */
export const routeName = (route: { path: string } | undefined): string => route?.path ?? "unknown";
