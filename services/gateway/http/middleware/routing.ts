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
 * Runs the middleware of the route that a request matches. Of several paths that match, the one with the fewest
 * parameters wins: static segments win over parameters. A router compares a path with all of its routes, which cost 3 %
 * of showing a workspace in one list; so there is one router for each first segment.
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
    // A router adds the members that its own type of context has.
    [...routers].map(([segment, router]) => [segment, router.routes() as unknown as Middleware]),
  );
  return (ctx, next) => dispatchers.get(firstSegment(ctx.path))?.(ctx, next) ?? next();
}

const API = "/api/v2/";

/** The first segment below the base of the API; of other paths the first one. */
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
