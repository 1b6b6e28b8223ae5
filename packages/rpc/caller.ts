import {
  type Caller,
  type Grants,
  grantsOfToken,
  type Principal,
  versionsOfPrincipal,
} from "@statehouse/authorization";
import { LRUCache } from "lru-cache";

/** The context of a method, in addition to its request. */
export interface CallContext {
  caller: Caller;
}

/** Loads the grants of a principal. */
export type GrantsLoader = (principal: Principal) => Promise<Grants>;

export interface CallerOptions {
  /** Loads the grants even if those of the principal's versions are cached. */
  currentGrants?: boolean;
}

/** Creates the caller of a principal. */
export type CallerFactory = (principal: Principal, options?: CallerOptions) => Promise<Caller>;

/**
 * Creates callers from principals. Grants are cached under the versions at which they were read, so that they are as
 * current as the principal's authentication: after any change the principal has other versions. Grants of a token that
 * some organizations do not accept are cached beside those of its principal.
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
    // Of later versions than the token's: right for this request only.
    if (grants.versions === own) kept.set(`${type} ${id} ${versions}`, ofToken);
    return { kind: "principal", principal, grants: ofToken };
  };
}
