import { type PermissionsOf, permissionValues } from "./levels.ts";

/**
 * The permissions that a team can have on one workspace, and their values: the project permissions that concern
 * workspaces.
 */
export const workspacePermissionValues = {
  "workspace-access.runs": permissionValues["workspace-access.runs"],
  "workspace-access.variables": permissionValues["workspace-access.variables"],
  "workspace-access.state-versions": permissionValues["workspace-access.state-versions"],
  "workspace-access.policy-mocks": permissionValues["workspace-access.policy-mocks"],
  "workspace-access.locking": permissionValues["workspace-access.locking"],
  "workspace-access.run-tasks": permissionValues["workspace-access.run-tasks"],
  "workspace-access.policy-overrides": permissionValues["workspace-access.policy-overrides"],
} as const;

export type WorkspacePermissions = PermissionsOf<typeof workspacePermissionValues>;

const permissions = (
  runs: WorkspacePermissions["workspace-access.runs"],
  variables: WorkspacePermissions["workspace-access.variables"],
  stateVersions: WorkspacePermissions["workspace-access.state-versions"],
  policyMocks: WorkspacePermissions["workspace-access.policy-mocks"],
  locking: boolean,
  runTasks: boolean,
  policyOverrides: boolean,
): WorkspacePermissions => ({
  "workspace-access.runs": runs,
  "workspace-access.variables": variables,
  "workspace-access.state-versions": stateVersions,
  "workspace-access.policy-mocks": policyMocks,
  "workspace-access.locking": locking,
  "workspace-access.run-tasks": runTasks,
  "workspace-access.policy-overrides": policyOverrides,
});

/**
 * The permissions that each access level implies. A custom grant has the values of `custom` for permissions that it
 * omits.
 */
// biome-ignore format: a table with one row for each level
export const workspaceLevels = {
  //                   runs     variables state    mocks   locking run-tasks overrides
  read:    permissions("read",  "read",   "read",  "none", false,  false,    false),
  plan:    permissions("plan",  "read",   "read",  "none", false,  false,    false),
  write:   permissions("apply", "write",  "write", "read", true,   false,    false),
  admin:   permissions("apply", "write",  "write", "read", true,   true,     true),
  custom:  permissions("read",  "none",   "none",  "none", false,  false,    false),
} as const;

export type WorkspaceLevel = keyof typeof workspaceLevels;
