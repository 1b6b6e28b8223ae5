import { effectivePermissions, type PermissionTable } from "@statehouse/authorization";
import { inWords, type Problems, quoted } from "@statehouse/errors";

/** An access level and, if the level is `custom`, the value of each permission. */
export interface CheckedGrant {
  access: string;
  permissions: Record<string, unknown>;
}

/**
 * Returns the grant that results from applying a request to the grant `before`. Permissions are allowed only with the
 * level `custom`. Absent permissions keep the effective values of `before`; in a new grant they have the defaults of
 * `custom`.
 */
export function checkedGrant(
  table: PermissionTable,
  requested: { access: string; permissions: Readonly<Record<string, unknown>> },
  problems: Problems,
  before?: CheckedGrant,
): CheckedGrant {
  const { levels, values } = table;
  const { access } = requested;
  const isLevel = Object.hasOwn(levels, access);
  if (!isLevel) problems.add("access", `Access must be ${alternatives(Object.keys(levels))}`);
  for (const [name, value] of Object.entries(requested.permissions)) {
    const known = Object.hasOwn(values, name) ? values[name] : undefined;
    const field = `permissions[${name}]`;
    if (!known) problems.add(field, `Permission ${quoted(shortName(name))} is unknown`);
    else if (isLevel && access !== "custom") {
      problems.add(
        field,
        `${inWords(name)} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
      );
    } else if (!known.includes(value)) {
      problems.add(field, `${inWords(name)} must be ${alternatives(known)}`);
    }
  }
  const kept = before ? effectivePermissions(table, before) : levels.custom;
  const permissions = access === "custom" ? { ...kept, ...requested.permissions } : {};
  return { access, permissions };
}

/** Returns the name of a permission in documents, for example `runs` for `workspace-access.runs`. */
const shortName = (name: string): string => name.split(".").at(-1) ?? name;

/** Returns the values as text, for example `read, write or admin`. */
export const alternatives = (values: readonly unknown[]): string =>
  values.length < 2
    ? values.map(String).join("")
    : `${values.slice(0, -1).map(String).join(", ")} or ${String(values.at(-1))}`;
