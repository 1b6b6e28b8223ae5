/** `can-…` keys with their action of packages/authorization; null: never allowed here. */
export type PermissionTable = Readonly<Record<string, string | null>>;

/** Bounded: grants result in few combinations of actions. */
const MAX_KEPT = 1000;

/**
 * Compiles a table: the permissions of a document from the actions that its service returned as allowed. Documents with
 * the same actions share one object.
 */
export function permissionsFrom(
  table: PermissionTable,
): (allowed: readonly string[]) => Readonly<Record<string, boolean>> {
  const rows = Object.entries(table);
  const kept = new Map<string, Readonly<Record<string, boolean>>>();
  return (allowed) => {
    const key = allowed.join();
    const known = kept.get(key);
    if (known) return known;
    const actions = new Set(allowed);
    const permissions = Object.freeze(
      Object.fromEntries(rows.map(([name, action]) => [name, !!action && actions.has(action)])),
    );
    if (kept.size < MAX_KEPT) kept.set(key, permissions);
    return permissions;
  };
}
