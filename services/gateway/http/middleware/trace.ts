import { type Proxies, traceId, withServerSpan } from "@statehouse/runtime";
import type { Middleware } from "./state.ts";

/**
 * Runs the request in a span and returns the trace id to the client. If a trusted proxy sent the request, the span
 * continues the trace that the request names. A trace that another client names is ignored, because it could be
 * the trace of another caller's request.
 */
export const trace =
  (proxies: Proxies): Middleware =>
  (ctx, next) =>
    withServerSpan(
      ctx.method,
      proxies.sent(ctx.req) ? ctx.req.headers.traceparent?.toString() : undefined,
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

/**
 * Returns the path pattern of the route. The path of the request is never used, because it contains names and other
 * text from clients.
 */
export const routeName = (route: { path: string } | undefined): string => route?.path ?? "unknown";
