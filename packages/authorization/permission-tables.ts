import { permissionValues, projectLevels } from "./levels.ts";
import { workspaceLevels, workspacePermissionValues } from "./workspace-levels.ts";

type Permissions = Readonly<Record<string, unknown>>;

/**
 * The access levels of a type of grant with the permissions that each level implies, and the values of each permission,
 * weakest first.
 */
export interface PermissionTable {
  levels: Readonly<Record<string, Permissions>> & { custom: Permissions };
  values: Readonly<Record<string, readonly unknown[]>>;
}

/** The access levels and permissions of each type of target. */
export const permissionTables = {
  project: { levels: projectLevels, values: permissionValues },
  workspace: { levels: workspaceLevels, values: workspacePermissionValues },
} as const satisfies Record<string, PermissionTable>;

/**
 * Returns the permissions that the grant's level implies or, if the level is custom, the custom permissions. A level
 * that is unknown in this release implies the defaults of custom.
 */
export const effectivePermissions = (
  { levels }: PermissionTable,
  { access, permissions }: { access: string; permissions: Permissions },
): Permissions =>
  access === "custom" ? { ...levels.custom, ...permissions } : (levels[access] ?? levels.custom);
