import { rateLimited } from "@statehouse/errors";
import { createTokenBuckets, credentialKey } from "@statehouse/runtime";
import type { Middleware } from "./state.ts";

/**
 * Limits the requests of each credential to `perSecond` requests per second, in bursts of at most `perSecond` requests.
 * Shows the limit in the headers that public clients read: X-RateLimit-Limit in requests per second, X-RateLimit-Reset
 * in seconds. Requests without a token are not counted. If `perSecond` is 0, nothing is limited and no headers are
 * sent.
 */
export function rateLimit(perSecond: number): Middleware {
  if (perSecond === 0) return (_, next) => next();
  const buckets = createTokenBuckets({ capacity: perSecond, perSecond });
  return (ctx, next) => {
    const credential = credentialKey(ctx.req);
    const taken = credential === undefined ? undefined : buckets.take(credential);
    const { remaining = perSecond, resetSeconds = 0 } = taken ?? {};
    ctx.set({
      "X-RateLimit-Limit": String(perSecond),
      "X-RateLimit-Remaining": String(remaining),
      "X-RateLimit-Reset": (Math.ceil(resetSeconds * 1000) / 1000).toFixed(3),
    });
    if (taken && !taken.allowed) {
      throw rateLimited(
        `A token may make ${perSecond} requests per second.`,
        taken.retryAfterSeconds,
      );
    }
    return next();
  };
}
