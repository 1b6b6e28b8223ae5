/** The permissions that a team can have on one workspace, by their wire names; wire-compatibility, section 6. */
export interface WorkspacePermissions {
  runs: "read" | "plan" | "apply";
  variables: "none" | "read" | "write";
  "state-versions": "none" | "read-outputs" | "read" | "write";
  "policy-mocks": "none" | "read";
  "workspace-locking": boolean;
  "run-tasks": boolean;
}

/** Weakest first, as `permissionValues`. */
export const workspacePermissionValues = {
  runs: ["read", "plan", "apply"],
  variables: ["none", "read", "write"],
  "state-versions": ["none", "read-outputs", "read", "write"],
  "policy-mocks": ["none", "read"],
  "workspace-locking": [false, true],
  "run-tasks": [false, true],
} as const satisfies {
  [P in keyof WorkspacePermissions]: readonly WorkspacePermissions[P][];
};

const permissions = (
  runs: WorkspacePermissions["runs"],
  variables: WorkspacePermissions["variables"],
  stateVersions: WorkspacePermissions["state-versions"],
  policyMocks: WorkspacePermissions["policy-mocks"],
  locking: boolean,
  runTasks: boolean,
): WorkspacePermissions => ({
  runs,
  variables,
  "state-versions": stateVersions,
  "policy-mocks": policyMocks,
  "workspace-locking": locking,
  "run-tasks": runTasks,
});

/** Implied values per access level; `custom` holds the defaults of what a custom grant leaves out. */
// biome-ignore format: a table, a row a level
export const workspaceLevels = {
  //                   runs     variables state    mocks   locking run-tasks
  read:    permissions("read",  "read",   "read",  "none", false,  false),
  plan:    permissions("plan",  "read",   "read",  "none", false,  false),
  write:   permissions("apply", "write",  "write", "read", true,   false),
  admin:   permissions("apply", "write",  "write", "read", true,   true),
  custom:  permissions("read",  "none",   "none",  "none", false,  false),
} as const;

export type WorkspaceLevel = keyof typeof workspaceLevels;

/** The project permission that each stands for, so that an action's need is written once for both. */
export const workspacePermissionFor = {
  "workspace-access.runs": "runs",
  "workspace-access.variables": "variables",
  "workspace-access.state-versions": "state-versions",
  "workspace-access.policy-mocks": "policy-mocks",
  "workspace-access.locking": "workspace-locking",
  "workspace-access.run-tasks": "run-tasks",
} as const satisfies Record<string, keyof WorkspacePermissions>;
