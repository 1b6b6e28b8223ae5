import { forbidden, notFound } from "@statehouse/errors";
import { type Action, type ActionRule, actionRules } from "./actions.ts";
import type { Caller, Grants, OrganizationGrants, ProjectGrant } from "./grants.ts";
import { type ProjectPermissions, permissionValues, projectLevels } from "./levels.ts";

export type { Action } from "./actions.ts";
export { actionRules } from "./actions.ts";
export type { Caller, Grants, OrganizationGrants, Principal, ProjectGrant } from "./grants.ts";
export { principalTypes } from "./grants.ts";
export type { ProjectLevel, ProjectPermissions } from "./levels.ts";
export { permissionValues, projectLevels } from "./levels.ts";

/** What an action is about. A workspace's project decides with it. */
export interface Target {
  organizationId: string;
  projectId?: string;
}

/** What a list may show, for the SQL that reads it. */
export type Scope = { all: true } | { all: false; projectIds: readonly string[] };

const permissionsOf = (grant: ProjectGrant): ProjectPermissions => {
  const level = projectLevels[grant.access as keyof typeof projectLevels] ?? projectLevels.custom;
  return grant.access === "custom" ? { ...level, ...grant.permissions } : level;
};

const holds = (
  permissions: ProjectPermissions,
  permission: keyof ProjectPermissions,
  least: unknown,
) => {
  const values: readonly unknown[] = permissionValues[permission];
  return values.indexOf(permissions[permission]) >= values.indexOf(least);
};

const grantAllows = (grant: ProjectGrant, rule: ActionRule): boolean => {
  if (rule.levels?.some((level) => level === grant.access)) return true;
  if (rule.project === null) return false;
  const permissions = permissionsOf(grant);
  return Object.entries(rule.project).every(([permission, least]) =>
    holds(permissions, permission as keyof ProjectPermissions, least),
  );
};

const organizationAllows = (organization: OrganizationGrants, rule: ActionRule): boolean =>
  organization.owner ||
  rule.member === true ||
  rule.organization.some((permission) => organization.organizationAccess.has(permission));

/**
 * Whether the grants allow an action. Rights are the union of all grants: the specification's sentence
 * ("the more restrictive") contradicts its own example, in which manage-projects wins over a read grant.
 */
export function allowed(grants: Grants, action: Action, target: Target): boolean {
  const organization = grants.organizations.get(target.organizationId);
  if (!organization) return false;
  const rule: ActionRule = actionRules[action];
  if (organizationAllows(organization, rule)) return true;
  if (target.projectId === undefined) return false;
  const projectGrants = organization.projects.get(target.projectId) ?? [];
  return projectGrants.some((grant) => grantAllows(grant, rule));
}

/** Those of the actions that the grants allow on the target; what documents show as `permissions`. */
export const allowedActions = (
  grants: Grants,
  actions: readonly Action[],
  target: Target,
): Action[] => actions.filter((action) => allowed(grants, action, target));

/** What a list of `action`'s targets in an organization may show. */
export function scope(grants: Grants, action: Action, organizationId: string): Scope {
  const organization = grants.organizations.get(organizationId);
  if (!organization) return { all: false, projectIds: [] };
  const rule: ActionRule = actionRules[action];
  if (organizationAllows(organization, rule)) return { all: true };
  const projectIds = [...organization.projects]
    .filter(([, projectGrants]) => projectGrants.some((grant) => grantAllows(grant, rule)))
    .map(([projectId]) => projectId);
  return { all: false, projectIds };
}

/** The reading that must be allowed before a refusal may admit that the target exists. */
const readingOf = (action: Action): Action => {
  const [noun] = action.split(":");
  if (noun === "organization") return "organization:read";
  if (action === "project:create" || action === "project:list") return "organization:read";
  return noun === "project" ? "project:read" : "workspace:read";
};

/** Throws `notFound` when the caller may not know of the target, `forbidden` when it may not act on it. */
export function authorize(
  caller: Caller,
  action: Action,
  target: Target,
  what: string = readingOf(action).split(":")[0] ?? "resource",
): asserts caller is Extract<Caller, { kind: "principal" }> {
  if (caller.kind !== "principal") throw forbidden("service_caller", "A service may not do this.");
  if (allowed(caller.grants, action, target)) return;
  if (!allowed(caller.grants, readingOf(action), target)) throw notFound(what);
  throw forbidden("not_allowed", `You may not do this to the ${what} (${action}).`);
}
