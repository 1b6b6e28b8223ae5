import type { Caller, Grants, Principal } from "@statehouse/authorization";
import { LRUCache } from "lru-cache";

/** The context of a method, in addition to its request. */
export interface CallContext {
  caller: Caller;
}

/** Loads the grants of a principal. */
export type GrantsLoader = (principal: Principal) => Promise<Grants>;

/**
 * Creates callers from principals. Grants are cached under the versions at which they were read, so cached grants are
 * never stale: after any change the principal has other versions.
 */
export function createCallers(load: GrantsLoader): (principal: Principal) => Promise<Caller> {
  const kept = new LRUCache<string, Grants>({ max: 10_000 });
  return async (principal) => {
    if (principal.type === "service") return { kind: "service", name: principal.id };
    const { type, id, versions } = principal;
    let grants = kept.get(`${type} ${id} ${versions}`);
    if (!grants) {
      grants = await load(principal);
      kept.set(`${type} ${id} ${grants.versions}`, grants);
    }
    return { kind: "principal", principal, grants };
  };
}
