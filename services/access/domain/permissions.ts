import type { FieldError } from "@statehouse/errors";
import { badPermission, invalidLevel, readOnlyPermission, unknownPermission } from "./errors.ts";

/** The levels that a kind of grant has, what each implies, and what each permission can be. */
export interface PermissionTable {
  levels: Readonly<Record<string, object>>;
  values: Readonly<Record<string, readonly (string | boolean)[]>>;
}

/** A level, and with `custom` its permissions: those given, and defaults for those that are not. */
export interface CheckedGrant {
  access: string;
  permissions: Record<string, unknown>;
}

/**
 * What a request says of a grant, against what it was. Permissions may be given with `custom` only; those
 * left out keep their value while the level stays custom, else they get the level's defaults.
 */
export function checkedGrant(
  { levels, values }: PermissionTable,
  wanted: { access: string; permissions: Readonly<Record<string, unknown>> },
  before?: CheckedGrant,
): CheckedGrant & { problems: FieldError[] } {
  const { access } = wanted;
  const problems: FieldError[] = [];
  const isLevel = Object.hasOwn(levels, access);
  if (!isLevel) problems.push(invalidLevel(Object.keys(levels)));
  for (const [name, value] of Object.entries(wanted.permissions)) {
    const known = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!known) problems.push(unknownPermission(name));
    else if (isLevel && access !== "custom") {
      problems.push(readOnlyPermission(name, access));
    } else if (!known.some((one) => one === value)) problems.push(badPermission(name, known));
  }
  const kept = before?.access === "custom" ? before.permissions : levels.custom;
  const permissions = access === "custom" ? { ...kept, ...wanted.permissions } : {};
  return { access, permissions, problems };
}

/** What the level implies, or the custom permissions themselves. */
export const effectivePermissions = (
  { levels }: PermissionTable,
  { access, permissions }: CheckedGrant,
): Record<string, unknown> => ({ ...levels[access], ...permissions });
