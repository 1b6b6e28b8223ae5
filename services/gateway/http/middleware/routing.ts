import Router from "@koa/router";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import type { Edition } from "@statehouse/runtime";
import type { Route } from "../route.ts";
import type { Middleware, RequestState } from "./state.ts";

/** The methods, in the order in which the header `Allow` lists them. */
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Maximum length of a path segment in characters. Names and ids are shorter. */
const MAX_SEGMENT = 1000;

/** Throws 404 if a segment of the path cannot be a name or an id. */
export const readablePath: Middleware = (ctx, next) => {
  if (!ctx.path.split("/").every(isReadable)) throw unknownAddress();
  return next();
};

/** Returns whether a segment has valid percent-encoding and no NUL, which the database does not accept. */
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
 * Runs the middleware of the route that matches a request. If several paths match, the one with the fewest parameters
 * is used. Each first path segment has its own router, because a router compares a path with all of its routes. With a
 * single router, this comparison took 3 % of the time of a request that shows a workspace.
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
    // The cast hides members that the router adds to its context type.
    [...routers].map(([segment, router]) => [segment, router.routes() as unknown as Middleware]),
  );
  return (ctx, next) => dispatchers.get(firstSegment(ctx.path))?.(ctx, next) ?? next();
}

const API = "/api/v2/";

/** Returns the first segment after the base of the API; for other paths, the first segment. */
function firstSegment(path: string): string {
  const start = path.startsWith(API) ? API.length : 1;
  const end = path.indexOf("/", start);
  return path.slice(start, end < 0 ? path.length : end);
}

/**
 * Handles requests that match no route. Throws 404 or 405. Never throws 501, because clients retry requests that fail
 * with 501.
 */
export const noRoute: Middleware = (ctx) => {
  const matched: readonly { methods: string[] }[] = ctx.matched ?? [];
  const allowed = methods.filter((method) => matched.some((path) => path.methods.includes(method)));
  throw allowed.length > 0 ? methodNotAllowed(allowed) : unknownAddress();
};
