import {
  type Action,
  actionRules,
  allowed,
  type Caller,
  grantsOf,
  type Scope,
  scope,
  type Target,
} from "@statehouse/authorization";
import type { OrganizationView } from "../domain/organization.ts";
import type { ProjectView } from "../domain/project.ts";
import type { WorkspaceView } from "../domain/workspace.ts";
import type { App } from "./app.ts";
import { targetOf } from "./caller.ts";

/** An object with the actions that the caller may perform on it. */
export type WithAllowedActions<View> = View & { allowedActions: Action[] };

/** A workspace in the form that its document shows. */
export type WorkspaceDocument = WithAllowedActions<WorkspaceView> & {
  /** The known release that the engine version selects; null if there is none. */
  resolvedEngineVersion: string | null;
};

const actions = Object.keys(actionRules) as Action[];
const projectActions = actions.filter((action) => action.startsWith("project:"));
const workspaceActions = actions.filter(
  (action) => action.startsWith("workspace:") || action.startsWith("state:"),
);

/** Includes the actions that are allowed in the organization as a whole or in at least one of its projects. */
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

/** The action is allowed if the caller may create workspaces in at least one project. */
const inSomeProject: ReadonlySet<Action> = new Set(["project:create-workspace"]);
const isSomewhere = (found: Scope): boolean => found.all || found.projectIds.length > 0;

export const withProjectActions =
  (caller: Caller) =>
  (project: ProjectView): WithAllowedActions<ProjectView> => ({
    ...project,
    // A total count would reveal objects that a list hides.
    workspaceCount: readsAllOf(caller, project) ? project.workspaceCount : null,
    allowedActions: allowedTo(caller, projectActions, {
      organizationId: project.organizationId,
      projectId: project.id,
    }),
  });

/**
 * For one workspace or for each of a list. The allowed actions are computed once for each project, unless a grant is
 * on the workspace itself.
 */
export const withWorkspaceActions = (app: App, caller: Caller) => {
  const known = new Map<string, Action[]>();
  return (workspace: WorkspaceView): WorkspaceDocument => {
    const { id, organizationId, projectId, allowForceDelete } = workspace;
    const alone = grantsOf(caller).organizations.get(organizationId)?.workspaces.has(id);
    const key = alone ? id : projectId;
    const found = known.get(key);
    const actions = found ?? allowedTo(caller, workspaceActions, targetOf(workspace));
    if (!found) known.set(key, actions);
    return {
      ...workspace,
      resolvedEngineVersion: app.resolveEngineVersion(workspace.engineVersion),
      allowedActions: withForceDelete(actions, allowForceDelete),
    };
  };
};

/** Allows a run of another workspace to read this workspace's state, and nothing else. */
export const withConsumerActions = (app: App, workspace: WorkspaceView): WorkspaceDocument => ({
  ...workspace,
  resolvedEngineVersion: app.resolveEngineVersion(workspace.engineVersion),
  allowedActions: ["workspace:read", "state:read", "state:read-outputs"],
});

/** The action that a force-delete requires; specification, "Authentication", rule 5. */
export const forceDeleteAction = (allowForceDelete: boolean): Action =>
  allowForceDelete ? "workspace:update" : "workspace:force-delete";

const withForceDelete = (actions: Action[], allowForceDelete: boolean): Action[] =>
  actions.includes(forceDeleteAction(allowForceDelete)) &&
  !actions.includes("workspace:force-delete")
    ? [...actions, "workspace:force-delete"]
    : actions;

function allowedTo(caller: Caller, wanted: readonly Action[], target: Target): Action[] {
  const grants = grantsOf(caller);
  return wanted.filter((action) => allowed(grants, action, target));
}
