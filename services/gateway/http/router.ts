import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import type { Edition } from "@statehouse/runtime";
import createFindMyWay from "find-my-way";
import type { Route } from "./route.ts";

const methods = ["GET", "POST", "PATCH", "DELETE"] as const;
type KnownMethod = (typeof methods)[number];

/** Longer path segments never match a name or id. */
const MAX_PARAM_LENGTH = 1000;

export interface Match {
  route: Route;
  params: Readonly<Record<string, string | undefined>>;
}

/** Finds the route of a request. Throws 404 and 405 as JSON errors. */
export type Router = (method: string, url: string) => Match;

/** A router over the routes of the edition. */
export function createRouter(routes: readonly Route[], edition: Edition): Router {
  const tree = createFindMyWay({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH });
  const unused = () => {};
  for (const route of routes) {
    if (route.edition && !edition.has(route.edition)) continue;
    tree.on(route.method, route.path, unused, route);
  }
  const find = (method: KnownMethod, url: string): Match | undefined => {
    const found = tree.find(method, url);
    return found?.store ? { route: found.store, params: found.params } : undefined;
  };
  return (method, url) => {
    if (hasNul(url)) throw unknownAddress();
    const asked = method === "HEAD" ? "GET" : method;
    const known = methods.find((name) => name === asked);
    const match = known && find(known, url);
    if (match) return match;
    const allowed = methods.filter((name) => find(name, url));
    throw allowed.length > 0 ? methodNotAllowed(allowed) : unknownAddress();
  };
}

/** Names never contain NUL, and the database does not accept it. */
const hasNul = (url: string) => {
  const at = url.indexOf("%00");
  return at >= 0 && !url.slice(0, at).includes("?");
};
