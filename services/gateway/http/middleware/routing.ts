import Router from "@koa/router";
import { methodNotAllowed, unknownAddress, wronglyRouted } from "@statehouse/errors/http";
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

/**
 * Returns whether a segment is short enough, has valid percent-encoding and contains no NUL, which the database does
 * not accept.
 */
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
 * is used. A router compares a path with all of its routes, so each group of paths with the same first segment and the
 * same number of segments has its own router, which compares the path with only a few routes.
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
    const group = groupOf(route.path);
    const router =
      routers.get(group) ?? new Router<RequestState>({ sensitive: true, exclusive: "specificity" });
    routers.set(group, router);
    router.register(route.path, [route.method], [enter, ...middlewareOf(route)]);
  }
  const dispatchers = new Map(
    // The cast hides members that the router adds to its context type.
    [...routers].map(([group, router]) => [group, router.routes() as unknown as Middleware]),
  );
  return (ctx, next) => dispatchers.get(groupOf(ctx.path))?.(ctx, next) ?? next();
}

const API = "/api/v2/";

/**
 * Returns the number of segments of a path and its first segment; the base of the API is removed first. Like the
 * routers, ignores a trailing slash.
 */
function groupOf(path: string): string {
  const end = path.endsWith("/") ? -1 : path.length;
  const segments = path.slice(path.startsWith(API) ? API.length : 1, end).split("/");
  return `${segments.length} ${segments[0]}`;
}

/**
 * Handles requests that match no route. Throws 404 or 405. Never throws 501, because clients retry requests that fail
 * with 501.
 */
export const noRoute: Middleware = (ctx) => {
  const matched: readonly { methods: string[] }[] = ctx.matched ?? [];
  const allowed = methods.filter((method) => matched.some((path) => path.methods.includes(method)));
  if (allowed.length > 0) throw methodNotAllowed(allowed);
  throw ctx.path.startsWith("/v1/object/") ? wronglyRouted() : unknownAddress();
};
