import Router from "@koa/router";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import type { Edition } from "@statehouse/runtime";
import type { Route } from "../route.ts";
import type { Middleware, RequestState } from "./state.ts";

/** In the order in which `Allow` lists them. */
const methods = ["GET", "POST", "PATCH", "DELETE"] as const;

/** No name or id is longer than this many characters. */
const MAX_SEGMENT = 1000;

/** Throws 404 for paths that no route can match: each segment must be able to be a name. */
export const readablePath: Middleware = (ctx, next) => {
  if (!ctx.path.split("/").every(isReadable)) throw unknownAddress();
  return next();
};

/** Valid percent-encoding, and no NUL, which no database accepts. */
function isReadable(segment: string): boolean {
  if (segment.length > MAX_SEGMENT) return false;
  if (!segment.includes("%")) return true;
  try {
    return !decodeURIComponent(segment).includes("\0");
  } catch {
    return false;
  }
}

/**
 * A router over the routes of the edition, each with its middleware. Of several paths that match, the one with the
 * fewest parameters wins: static segments win over parameters. One flat list: a match among 135 routes takes 4 µs of CPU.
 */
export function createRouter(
  routes: readonly Route[],
  edition: Edition,
  middlewareOf: (route: Route) => Middleware[],
): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, exclusive: "specificity" });
  for (const route of routes) {
    if (route.edition && !edition.has(route.edition)) continue;
    const enter: Middleware = (ctx, next) => {
      ctx.state.route = route;
      return next();
    };
    router.register(route.path, [route.method], [enter, ...middlewareOf(route)]);
  }
  return router;
}

/** For requests that match no route: throws 404 or 405 and never 501, which clients retry. */
export const noRoute: Middleware = (ctx) => {
  const matched: readonly { methods: string[] }[] = ctx.matched ?? [];
  const allowed = methods.filter((method) => matched.some((path) => path.methods.includes(method)));
  throw allowed.length > 0 ? methodNotAllowed(allowed) : unknownAddress();
};
