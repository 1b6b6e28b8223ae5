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

/**
 * Creates callers from principals. Grants are cached under the versions at which they were read, so cached grants are
 * never stale: after any change the principal has other versions. Grants of a token that some organizations do not
 * accept are cached beside those of its principal.
 */
export function createCallers(load: GrantsLoader): (principal: Principal) => Promise<Caller> {
  const kept = new LRUCache<string, Grants>({ max: 10_000 });
  return async (principal) => {
    if (principal.type === "service") return { kind: "service", name: principal.id };
    const { type, id, versions } = principal;
    const known = kept.get(`${type} ${id} ${versions}`);
    if (known) return { kind: "principal", principal, grants: known };
    const own = versionsOfPrincipal(versions);
    let grants = kept.get(`${type} ${id} ${own}`);
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
