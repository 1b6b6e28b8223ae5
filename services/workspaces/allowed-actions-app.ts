import {
  type Action,
  actions,
  allowed,
  allowedActions,
  type Caller,
  grantsOf,
  type Scope,
  scope,
  workspaceActions,
} from "@statehouse/authorization";
import type { App } from "./app.ts";
import { targetOf } from "./caller-app.ts";
import type { OrganizationView } from "./organization/domain.ts";
import type { ProjectView } from "./project/domain.ts";
import type { WorkspaceView } from "./workspace/domain.ts";

/** An object with the actions that the caller may perform on it. */
export type WithAllowedActions<View> = View & { allowedActions: Action[] };

/** A workspace with the caller's allowed actions. */
export type WorkspaceWithActions = WithAllowedActions<WorkspaceView> & {
  /**
   * The release that the workspace's engine version (an exact version, a constraint or `latest`) selects; null if no
   * known release matches.
   */
  resolvedEngineVersion: string | null;
};

const projectActions = actions.filter((action) => action.startsWith("project:"));

/**
 * Adds to an organization the actions that the caller may perform in the whole organization, and the actions of
 * `inSomeProject` that it may perform in at least one project. Sets the count of projects or workspaces to null if the
 * caller cannot read all of them.
 */
export const withOrganizationActions =
  (caller: Caller) =>
  (organization: OrganizationView): WithAllowedActions<OrganizationView> => ({
    ...organization,
    projectCount: readsAll(caller, "project:read", organization) ? organization.projectCount : null,
    workspaceCount: readsAll(caller, "workspace:read", organization)
      ? organization.workspaceCount
      : null,
    allowedActions: actions.filter((action) =>
      inSomeProject.has(action)
        ? isSomewhere(scope(grantsOf(caller), action, organization.id))
        : allowed(grantsOf(caller), action, { organizationId: organization.id }),
    ),
  });

const readsAll = (caller: Caller, action: Action, { id }: OrganizationView): boolean =>
  scope(grantsOf(caller), action, id).all;

const readsAllOf = (caller: Caller, { id: projectId, organizationId }: ProjectView): boolean =>
  allowed(grantsOf(caller), "workspace:read", { organizationId, projectId, workspaceId: "" });

/**
 * Actions that an organization's document shows as allowed if the caller may perform them in at least one of its
 * projects.
 */
const inSomeProject: ReadonlySet<Action> = new Set(["project:create-workspace"]);
const isSomewhere = (found: Scope): boolean => found.all || found.projectIds.length > 0;

export const withProjectActions =
  (caller: Caller) =>
  (project: ProjectView): WithAllowedActions<ProjectView> => ({
    ...project,
    // Null for a caller that cannot read all workspaces of the project, because the total would count hidden ones.
    workspaceCount: readsAllOf(caller, project) ? project.workspaceCount : null,
    allowedActions: allowedActions(grantsOf(caller), projectActions, {
      organizationId: project.organizationId,
      projectId: project.id,
    }),
  });

/** Adds the caller's allowed actions to a workspace. */
export const withWorkspaceActions = (app: App, caller: Caller) => {
  const grants = grantsOf(caller);
  return (workspace: WorkspaceView): WorkspaceWithActions => {
    const actions = allowedActions(grants, workspaceActions, targetOf(workspace));
    return {
      ...workspace,
      resolvedEngineVersion: app.resolveEngineVersion(workspace.engineVersion),
      allowedActions: withForceDelete(actions, workspace.allowForceDelete),
    };
  };
};

/**
 * Adds the actions that are allowed for a run whose own workspace is a remote state consumer of `workspace`. Such a run
 * may perform no other actions on `workspace`.
 */
export const withConsumerActions = (app: App, workspace: WorkspaceView): WorkspaceWithActions => ({
  ...workspace,
  resolvedEngineVersion: app.resolveEngineVersion(workspace.engineVersion),
  allowedActions: ["workspace:read", "state:read", "state:read-outputs"],
});

/**
 * The action that force-deleting a workspace requires. If the organization allows it (`allow-force-delete-workspaces`),
 * the right to update the workspace is sufficient.
 */
export const forceDeleteAction = (allowForceDelete: boolean): Action =>
  allowForceDelete ? "workspace:update" : "workspace:force-delete";

const withForceDelete = (actions: Action[], allowForceDelete: boolean): Action[] =>
  actions.includes(forceDeleteAction(allowForceDelete)) &&
  !actions.includes("workspace:force-delete")
    ? [...actions, "workspace:force-delete"]
    : actions;
