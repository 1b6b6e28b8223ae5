import { z } from "zod";

/** Maps each `can-…` key to an action of packages/authorization, or to null if this product never allows it. */
export type PermissionTable = Readonly<Record<string, string | null>>;

/**
 * Maximum number of cached permission objects. Few are needed, because only few combinations of allowed actions occur.
 */
const MAX_KEPT = 1000;

/**
 * Returns the attribute `permissions`: the permissions for the allowed actions that a service returned. Documents with
 * the same allowed actions share one object.
 */
export function permissionsFrom(table: PermissionTable) {
  const rows = Object.entries(table);
  const kept = new Map<string, Readonly<Record<string, boolean>>>();
  const permissionsOf = ({ allowedActions }: { allowedActions: readonly string[] }) => {
    const key = allowedActions.join();
    const known = kept.get(key);
    if (known) return known;
    const actions = new Set(allowedActions);
    const permissions = Object.freeze(
      Object.fromEntries(rows.map(([name, action]) => [name, !!action && actions.has(action)])),
    );
    if (kept.size < MAX_KEPT) kept.set(key, permissions);
    return permissions;
  };
  return [permissionShape(table), permissionsOf] as const;
}

/** Returns the schema of the permissions that the attribute shows. */
export const permissionShape = (table: PermissionTable) =>
  z.object(Object.fromEntries(Object.keys(table).map((name) => [name, z.boolean()])));
