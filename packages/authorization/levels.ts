/**
 * The permissions that a team can have on a project, and the values of each permission, weakest first. A grant is
 * sufficient if its value is at or after the required value.
 */
export const permissionValues = {
  "project-access.settings": ["read", "update", "delete"],
  "project-access.teams": ["none", "read", "manage"],
  /** Stored and shown, but without effect, because this product has no variable sets. */
  "project-access.variable-sets": ["none", "read", "write"],
  "workspace-access.runs": ["read", "plan", "apply"],
  "workspace-access.policy-mocks": ["none", "read"],
  "workspace-access.state-versions": ["none", "read-outputs", "read", "write"],
  "workspace-access.variables": ["none", "read", "write"],
  "workspace-access.create": [false, true],
  "workspace-access.locking": [false, true],
  "workspace-access.delete": [false, true],
  "workspace-access.move": [false, true],
  "workspace-access.run-tasks": [false, true],
  /** Stored and shown, but without effect, because this product has no policies. */
  "workspace-access.policy-overrides": [false, true],
} as const;

/** One value for each permission of a table of values. */
export type PermissionsOf<Values extends Readonly<Record<string, readonly unknown[]>>> = {
  [P in keyof Values]: Values[P][number];
};

export type ProjectPermissions = PermissionsOf<typeof permissionValues>;

const permissions = (
  settings: ProjectPermissions["project-access.settings"],
  teams: ProjectPermissions["project-access.teams"],
  variableSets: ProjectPermissions["project-access.variable-sets"],
  runs: ProjectPermissions["workspace-access.runs"],
  policyMocks: ProjectPermissions["workspace-access.policy-mocks"],
  stateVersions: ProjectPermissions["workspace-access.state-versions"],
  variables: ProjectPermissions["workspace-access.variables"],
  create: boolean,
  locking: boolean,
  deletion: boolean,
  move: boolean,
  runTasks: boolean,
  policyOverrides: boolean,
): ProjectPermissions => ({
  "project-access.settings": settings,
  "project-access.teams": teams,
  "project-access.variable-sets": variableSets,
  "workspace-access.runs": runs,
  "workspace-access.policy-mocks": policyMocks,
  "workspace-access.state-versions": stateVersions,
  "workspace-access.variables": variables,
  "workspace-access.create": create,
  "workspace-access.locking": locking,
  "workspace-access.delete": deletion,
  "workspace-access.move": move,
  "workspace-access.run-tasks": runTasks,
  "workspace-access.policy-overrides": policyOverrides,
});

/**
 * The permissions that each access level implies. A custom grant has the values of `custom` for permissions that it
 * omits.
 */
// biome-ignore format: it is the specification's table, one row for each level
export const projectLevels = {
  //                    settings  teams     varsets  runs     mocks   state    variables create locking delete move   run-tasks overrides
  read:     permissions("read",   "none",   "read",  "read",  "none", "read",  "read",   false, false,  false, false, false, false),
  write:    permissions("read",   "none",   "read",  "apply", "read", "write", "write",  false, true,   false, false, false, false),
  maintain: permissions("read",   "none",   "write", "apply", "read", "write", "write",  true,  true,   true,  false, true,  true),
  admin:    permissions("delete", "manage", "write", "apply", "read", "write", "write",  true,  true,   true,  true,  true,  true),
  custom:   permissions("read",   "none",   "none",  "read",  "none", "none",  "none",   false, false,  false, false, false, false),
} as const;

export type ProjectLevel = keyof typeof projectLevels;
