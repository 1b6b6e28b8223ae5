import type { ProjectPermissions } from "./levels.ts";

/** The least value of a project grant's permission that allows an action on a workspace or project. */
type Need = { [P in keyof ProjectPermissions]?: ProjectPermissions[P] };

interface ActionRule {
  /** What a grant on the project must hold; all of it. Null: no project grant is enough. */
  project: Need | null;
  /** Fixed project levels that are enough, whatever the permissions say. */
  levels?: readonly ("read" | "write" | "maintain" | "admin" | "custom")[];
  /** Organization-level permissions, any of which is enough. Owners need none. */
  organization: readonly string[];
  /** Any member of the organization. */
  member?: true;
}

const rule = (project: Need | null, organization: readonly string[] = []): ActionRule => ({
  project,
  organization,
});

const workspaceManagers = ["manage-workspaces", "manage-projects"] as const;
const workspaceReaders = ["read-workspaces", ...workspaceManagers] as const;

/** Admin on the workspace: what the levels `maintain` and `admin` give. */
const workspaceAdmin: ActionRule = {
  project: null,
  levels: ["maintain", "admin"],
  organization: workspaceManagers,
};

/** Every action of the product and what allows it; specification, "Authentication" and "Team project access". */
export const actionRules = {
  "organization:read": { ...rule(null), member: true },
  "organization:update": rule(null),
  "organization:delete": rule(null),
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
  "workspace:plan": rule({ "workspace-access.runs": "plan" }, workspaceManagers),
  "workspace:apply": rule({ "workspace-access.runs": "apply" }, workspaceManagers),
  "workspace:update": workspaceAdmin,
  "workspace:delete": rule({ "workspace-access.delete": true }, workspaceManagers),
  "workspace:lock": rule({ "workspace-access.locking": true }, workspaceManagers),
  "workspace:force-unlock": workspaceAdmin,
  /** Owners only, unless the organization allows it to workspace admins. */
  "workspace:force-delete": rule(null),
  "workspace:read-variables": rule({ "workspace-access.variables": "read" }, workspaceManagers),
  "workspace:write-variables": rule({ "workspace-access.variables": "write" }, workspaceManagers),
  "workspace:manage-run-tasks": rule({ "workspace-access.run-tasks": true }, workspaceManagers),
  "state:read-outputs": rule(
    { "workspace-access.state-versions": "read-outputs" },
    workspaceReaders,
  ),
  "state:read": rule({ "workspace-access.state-versions": "read" }, workspaceReaders),
  "state:write": rule({ "workspace-access.state-versions": "write" }, workspaceManagers),
} as const satisfies Record<string, ActionRule>;

export type Action = keyof typeof actionRules;
export type { ActionRule };
