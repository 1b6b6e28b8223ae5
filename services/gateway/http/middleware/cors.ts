import koaCors from "@koa/cors";
import type { Middleware } from "./state.ts";

/** How long browsers may cache the response to a preflight request, in seconds. */
const PREFLIGHT_SECONDS = 600;

/**
 * Allows pages of these origins to call the API from browsers. Cookies are never allowed, because callers send tokens.
 * Preflight requests of other origins get no CORS headers.
 */
export const cors = (origins: readonly string[]): Middleware =>
  koaCors({
    origin: ({ request }) => origins.find((origin) => origin === request.get("Origin")) ?? "",
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: ["Authorization", "Content-Type", "If-None-Match"],
    exposeHeaders: [
      "ETag",
      "Retry-After",
      "X-RateLimit-Limit",
      "X-RateLimit-Remaining",
      "X-RateLimit-Reset",
      "X-Request-Id",
    ],
    maxAge: PREFLIGHT_SECONDS,
  });
