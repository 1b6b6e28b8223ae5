import type { ProjectLevel, ProjectPermissions } from "./levels.ts";
import type { OrganizationAccess } from "./organization-access.ts";
import type { WorkspaceLevel } from "./workspace-levels.ts";

/** For each permission, the lowest value that allows an action on a workspace or project. */
type Need = Partial<ProjectPermissions>;

interface ActionRule {
  /**
   * All permissions that a grant must have. Null if no permission of a project or workspace grant allows the action.
   */
  needs: Need | null;
  /** Fixed project levels that allow the action, regardless of the permissions. */
  projectLevels?: readonly ProjectLevel[];
  /** Workspace levels that allow the action, regardless of the permissions. */
  workspaceLevels?: readonly WorkspaceLevel[];
  /** Organization-level permissions, each of which allows the action. Owners need none of them. */
  organization: readonly OrganizationAccess[];
  /** Whether every member of the organization may perform the action. */
  member?: true;
  /** Types of principals that are refused regardless of their grants. */
  refusedTo?: readonly ["organization"];
  /** Whether the organization's audit trails token may perform the action. */
  auditTrailsToken?: true;
}

const rule = (
  needs: Need | null,
  organization: readonly OrganizationAccess[] = [],
): ActionRule => ({ needs, organization });

const workspaceManagers = ["manage-workspaces", "manage-projects"] as const;
const workspaceReaders = ["read-workspaces", ...workspaceManagers] as const;

/**
 * Requires admin access to the workspace. The project levels `maintain` and `admin` and the workspace level `admin`
 * include it.
 */
const workspaceAdmin: ActionRule = {
  needs: null,
  projectLevels: ["maintain", "admin"],
  workspaceLevels: ["admin"],
  organization: workspaceManagers,
};

/**
 * Refuses organization tokens. For example, they cannot hold a lock, so they can neither start runs nor write state.
 */
const notForOrganizations = (
  needs: Need | null,
  organization: readonly OrganizationAccess[] = [],
): ActionRule => ({ needs, organization, refusedTo: ["organization"] });

/** Every action of the product, with its requirements. */
export const actionRules = {
  "organization:read": { ...rule(null), member: true },
  "organization:update": rule(null),
  "organization:delete": rule(null),
  /** Create, change and delete teams, and their tokens. */
  "organization:manage-teams": rule(null, ["manage-teams"]),
  /** Invite and remove members of the organization, and add members to teams or remove them. */
  "organization:manage-membership": rule(null, ["manage-membership"]),
  /** Give teams organization-level permissions. */
  "organization:manage-access": rule(null, ["manage-organization-access"]),
  "organization:read-secret-teams": rule(null, ["access-secret-teams"]),
  "organization:manage-agent-pools": rule(null, ["manage-agent-pools"]),
  /** SSH keys give access to version control, so they require the permission to manage VCS settings. */
  "organization:manage-ssh-keys": rule(null, ["manage-vcs-settings"]),
  /** Actions that affect all workspaces of the organization. */
  "organization:manage-workspaces": rule(null, workspaceManagers),
  /** Usage-based billing is visible only to owners, and not to organization tokens. */
  "organization:read-usage": notForOrganizations(null),
  "organization:read-audit-trail": { ...rule(null), auditTrailsToken: true },
  "project:list": { ...rule(null), member: true },
  "project:create": rule(null, ["manage-projects"]),
  "project:read": rule({ "project-access.settings": "read" }, [
    "read-projects",
    ...workspaceReaders,
  ]),
  "project:update": rule({ "project-access.settings": "update" }, ["manage-projects"]),
  "project:delete": rule({ "project-access.settings": "delete" }, ["manage-projects"]),
  "project:read-teams": rule({ "project-access.teams": "read" }, ["manage-projects"]),
  "project:manage-teams": rule({ "project-access.teams": "manage" }, ["manage-projects"]),
  "project:create-workspace": rule({ "workspace-access.create": true }, workspaceManagers),
  "project:move-workspace": rule({ "workspace-access.move": true }, ["manage-projects"]),
  "workspace:read": rule({ "workspace-access.runs": "read" }, workspaceReaders),
  "workspace:plan": notForOrganizations({ "workspace-access.runs": "plan" }, workspaceManagers),
  "workspace:apply": notForOrganizations({ "workspace-access.runs": "apply" }, workspaceManagers),
  "workspace:update": workspaceAdmin,
  "workspace:delete": {
    ...rule({ "workspace-access.delete": true }, workspaceManagers),
    workspaceLevels: ["admin"],
  },
  "workspace:lock": notForOrganizations({ "workspace-access.locking": true }, workspaceManagers),
  "workspace:force-unlock": workspaceAdmin,
  /** Only owners may force-delete, unless the organization permits workspace admins to do so. */
  "workspace:force-delete": rule(null),
  "workspace:read-variables": rule({ "workspace-access.variables": "read" }, workspaceManagers),
  "workspace:write-variables": rule({ "workspace-access.variables": "write" }, workspaceManagers),
  "workspace:manage-run-tasks": rule({ "workspace-access.run-tasks": true }, workspaceManagers),
  "workspace:read-policy-mocks": rule(
    { "workspace-access.policy-mocks": "read" },
    workspaceManagers,
  ),
  /** Controls which teams have access to the workspace. */
  "workspace:manage-teams": workspaceAdmin,
  "state:read-outputs": rule(
    { "workspace-access.state-versions": "read-outputs" },
    workspaceReaders,
  ),
  "state:read": rule({ "workspace-access.state-versions": "read" }, workspaceReaders),
  "state:write": notForOrganizations(
    { "workspace-access.state-versions": "write" },
    workspaceManagers,
  ),
  /** Soft-delete, restore and permanently delete the contents of state versions. */
  "state:manage-backing-data": notForOrganizations(null),
} as const satisfies Record<string, ActionRule>;

export type Action = keyof typeof actionRules;

export const actions = Object.keys(actionRules) as Action[];

/** The actions whose target is a workspace. */
export const workspaceActions: readonly Action[] = actions.filter((action) =>
  /^(workspace|state):/.test(action),
);
export type { ActionRule };
