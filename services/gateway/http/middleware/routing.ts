import Router from "@koa/router";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import type { Edition } from "@statehouse/runtime";
import type { Route } from "../route.ts";
import type { Middleware, RequestState } from "./state.ts";

/** In the order in which `Allow` lists them. */
const methods = ["GET", "POST", "PATCH", "DELETE"] as const;

/** No name or id is longer than this number of characters. */
const MAX_SEGMENT = 1000;

/** Throws 404 for paths that no route can match, because a segment cannot be a name. */
export const readablePath: Middleware = (ctx, next) => {
  if (!ctx.path.split("/").every(isReadable)) throw unknownAddress();
  return next();
};

/** Valid percent-encoding without NUL, which no database accepts. */
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
 * Runs the middleware of the route that a request matches. Of several paths that match, the one with the fewest
 * parameters wins: static segments win over parameters. A router compares a path with all of its routes. A single
 * router for all routes took 3 % of the time of showing a workspace, so each first segment has its own router.
 */
export function routing(
  routes: readonly Route[],
  edition: Edition,
  middlewareOf: (route: Route) => Middleware[],
): Middleware {
  const routers = new Map<string, Router<RequestState>>();
  for (const route of routes) {
    if (route.edition && !edition.has(route.edition)) continue;
    const enter: Middleware = (ctx, next) => {
      ctx.state.route = route;
      return next();
    };
    const segment = firstSegment(route.path);
    const router =
      routers.get(segment) ??
      new Router<RequestState>({ sensitive: true, exclusive: "specificity" });
    routers.set(segment, router);
    router.register(route.path, [route.method], [enter, ...middlewareOf(route)]);
  }
  const dispatchers = new Map(
    // Members that the router adds to its context type.
    [...routers].map(([segment, router]) => [segment, router.routes() as unknown as Middleware]),
  );
  return (ctx, next) => dispatchers.get(firstSegment(ctx.path))?.(ctx, next) ?? next();
}

const API = "/api/v2/";

/** The first segment below the base of the API; for other paths the first segment. */
function firstSegment(path: string): string {
  const start = path.startsWith(API) ? API.length : 1;
  const end = path.indexOf("/", start);
  return path.slice(start, end < 0 ? path.length : end);
}

/** For requests that match no route: throws 404 or 405 and never 501, which clients retry. */
export const noRoute: Middleware = (ctx) => {
  const matched: readonly { methods: string[] }[] = ctx.matched ?? [];
  const allowed = methods.filter((method) => matched.some((path) => path.methods.includes(method)));
  throw allowed.length > 0 ? methodNotAllowed(allowed) : unknownAddress();
};
