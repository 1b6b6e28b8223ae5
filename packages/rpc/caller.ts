import {
  type Caller,
  type Grants,
  grantsOfToken,
  type Principal,
  versionsOfPrincipal,
} from "@statehouse/authorization";
import { LRUCache } from "lru-cache";

/** The context that a method receives in addition to its request. */
export interface CallContext {
  caller: Caller;
}

/** Loads the grants of a principal. */
export type GrantsLoader = (principal: Principal) => Promise<Grants>;

export interface CallerOptions {
  /** Loads the grants again, even if grants for the principal's versions are cached. */
  currentGrants?: boolean;
}

/** Creates the `Caller` of a request: its principal together with the principal's grants. */
export type CallerFactory = (principal: Principal, options?: CallerOptions) => Promise<Caller>;

/**
 * Creates the `Caller` of each principal. Grants are cached under the version vector at which they were read. Cached
 * grants are as current as the principal's authentication, because every change gives the principal new versions. If
 * some organizations do not accept a token, the grants of that token are cached separately from those of its principal.
 */
export function createCallers(load: GrantsLoader): CallerFactory {
  const kept = new LRUCache<string, Grants>({ max: 10_000 });
  return async (principal, { currentGrants = false } = {}) => {
    if (principal.type === "service") return { kind: "service", name: principal.id };
    const { type, id, versions } = principal;
    const find = (of: string) => (currentGrants ? undefined : kept.get(`${type} ${id} ${of}`));
    const known = find(versions);
    if (known) return { kind: "principal", principal, grants: known };
    const own = versionsOfPrincipal(versions);
    let grants = find(own);
    if (!grants) {
      grants = await load({ ...principal, versions: own });
      kept.set(`${type} ${id} ${grants.versions}`, grants);
    }
    if (own === versions) return { kind: "principal", principal, grants };
    const ofToken = grantsOfToken(grants, versions);
    // If the grants were read at versions other than `own`, the token's grants are valid for this request only and must
    // not be cached.
    if (grants.versions === own) kept.set(`${type} ${id} ${versions}`, ofToken);
    return { kind: "principal", principal, grants: ofToken };
  };
}
