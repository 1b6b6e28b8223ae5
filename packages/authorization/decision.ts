import { type Action, type ActionRule, actionRules } from "./actions.ts";
import type { Grants, OrganizationGrants, ProjectGrant, WorkspaceGrant } from "./grants.ts";
import {
  effectivePermissions,
  type PermissionTable,
  permissionTables,
} from "./permission-tables.ts";

/** The target of an action. Grants on the workspace itself and grants on its project both apply. */
export interface Target {
  organizationId: string;
  projectId?: string;
  workspaceId?: string;
}

/**
 * The target that action `A` requires. An action on a workspace requires all three ids; without them, grants on its
 * project or on the workspace itself would be ignored.
 */
export type TargetOf<A extends Action> = A extends `workspace:${string}` | `state:${string}`
  ? Required<Target>
  : Target;

/**
 * The targets that a list may contain, in the form that SQL uses: all targets of the organization, or only those in
 * `projectIds` and `workspaceIds`.
 */
export type Scope =
  | { all: true }
  | { all: false; projectIds: readonly string[]; workspaceIds: readonly string[] };

function grantAllows(
  table: PermissionTable,
  levels: readonly string[] | undefined,
  { needs }: ActionRule,
  grant: ProjectGrant | WorkspaceGrant,
): boolean {
  if (levels?.includes(grant.access)) return true;
  if (needs === null) return false;
  const held = effectivePermissions(table, grant);
  return Object.entries(needs).every(([name, least]) => {
    // A permission without values for workspaces exists only in project grants, so no workspace grant has it.
    const values = table.values[name];
    return values !== undefined && values.indexOf(held[name]) >= values.indexOf(least);
  });
}

const projectAllows = (grant: ProjectGrant, rule: ActionRule): boolean =>
  grantAllows(permissionTables.project, rule.projectLevels, rule, grant);

const workspaceAllows = (grant: WorkspaceGrant, rule: ActionRule): boolean =>
  grantAllows(permissionTables.workspace, rule.workspaceLevels, rule, grant);

const organizationAllows = (organization: OrganizationGrants, rule: ActionRule): boolean =>
  organization.owner ||
  rule.member === true ||
  rule.organization.some((permission) => organization.organizationAccess.has(permission));

/**
 * Returns the principal's grants in the organization; undefined if the principal has no grants there, if the
 * organization refuses the principal's user token, or if the action refuses principals of this type.
 */
function grantsIn(
  grants: Grants,
  rule: ActionRule,
  organizationId: string,
): OrganizationGrants | undefined {
  const organization = grants.organizations.get(organizationId);
  if (!organization || organization.refused) return undefined;
  return rule.refusedTo?.some((type) => type === grants.principal.type) ? undefined : organization;
}

/**
 * Returns whether the grants allow an action. Permissions are the union of all grants (ADR 4): the public documentation
 * says that the more restrictive grant applies, but in its own example manage-projects takes precedence over a read
 * grant.
 */
export function allowed<A extends Action>(grants: Grants, action: A, target: TargetOf<A>): boolean {
  const rule: ActionRule = actionRules[action];
  const { organizationId, projectId, workspaceId }: Target = target;
  if (rule.auditTrailsToken && grants.auditTrailOf === organizationId) return true;
  const organization = grantsIn(grants, rule, organizationId);
  if (!organization) return false;
  if (organizationAllows(organization, rule)) return true;
  const onProject = projectId === undefined ? undefined : organization.projects.get(projectId);
  if (onProject?.some((grant) => projectAllows(grant, rule))) return true;
  const onWorkspace =
    workspaceId === undefined ? undefined : organization.workspaces.get(workspaceId);
  return onWorkspace?.some((grant) => workspaceAllows(grant, rule)) ?? false;
}

/** Results of `allowedActions` by grants, list of actions and target, cached as long as the grants are. */
const knownActions = new WeakMap<Grants, WeakMap<readonly Action[], Map<string, Action[]>>>();

/** The maximum number of targets for which the allowed actions of one caller are cached, for each list of actions. */
const MAX_TARGETS = 200;

/**
 * Returns those of `actions` that the grants allow on the target; documents show them as `permissions`. The result is
 * cached for each project, and for each workspace that has a grant of its own. Callers must not change the array.
 */
export function allowedActions(
  grants: Grants,
  actions: readonly Action[],
  target: Target,
): Action[] {
  const { organizationId, projectId = "", workspaceId = "" } = target;
  const hasOwnGrant = grants.organizations.get(organizationId)?.workspaces.has(workspaceId);
  const key = `${organizationId} ${projectId} ${hasOwnGrant ? workspaceId : ""}`;
  const known = knownActions
    .getOrInsertComputed(grants, () => new WeakMap())
    .getOrInsertComputed(actions, () => new Map());
  const found = known.get(key);
  if (found) return found;
  if (known.size >= MAX_TARGETS) known.clear();
  const current = actions.filter((action) => allowed(grants, action, target));
  known.set(key, current);
  return current;
}

/** Results of `scope` by grants, action and organization, cached as long as the grants are. */
const knownScopes = new WeakMap<Grants, Map<string, Scope>>();

/**
 * Returns the projects and workspaces of an organization on which `action` is allowed, so that a list shows only these.
 */
export function scope(grants: Grants, action: Action, organizationId: string): Scope {
  return knownScopes
    .getOrInsertComputed(grants, () => new Map())
    .getOrInsertComputed(`${action} ${organizationId}`, () =>
      workOutScope(grants, action, organizationId),
    );
}

function workOutScope(grants: Grants, action: Action, organizationId: string): Scope {
  const rule: ActionRule = actionRules[action];
  const organization = grantsIn(grants, rule, organizationId);
  if (!organization) return { all: false, projectIds: [], workspaceIds: [] };
  if (organizationAllows(organization, rule)) return { all: true };
  return {
    all: false,
    projectIds: keysWhere(organization.projects, (grant) => projectAllows(grant, rule)),
    workspaceIds: keysWhere(organization.workspaces, (grant) => workspaceAllows(grant, rule)),
  };
}

const keysWhere = <Grant>(
  byKey: ReadonlyMap<string, readonly Grant[]>,
  allows: (grant: Grant) => boolean,
): string[] => [...byKey].filter(([, all]) => all.some(allows)).map(([key]) => key);
