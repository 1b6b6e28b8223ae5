import { asRefusal, forbidden, notFound, unauthenticated } from "@statehouse/errors";
import type { Action } from "./actions.ts";
import { allowed, type Target, type TargetOf } from "./decision.ts";
import type { Caller, Grants } from "./grants.ts";

export type { Action } from "./actions.ts";
export { actionRules, actions, workspaceActions } from "./actions.ts";
export type { Scope, Target, TargetOf } from "./decision.ts";
export { allowed, allowedActions, scope } from "./decision.ts";
export type { PermissionSource, TeamGrants } from "./explanation.ts";
export { explain } from "./explanation.ts";
export type {
  Caller,
  Grants,
  OrganizationGrants,
  Principal,
  ProjectGrant,
  WorkspaceGrant,
} from "./grants.ts";
export { principalTypes } from "./grants.ts";
export type { PermissionsOf, ProjectLevel, ProjectPermissions } from "./levels.ts";
export { permissionValues, projectLevels } from "./levels.ts";
export type { OrganizationAccess } from "./organization-access.ts";
export { organizationAccessNames } from "./organization-access.ts";
export type { PermissionTable } from "./permission-tables.ts";
export { effectivePermissions, permissionTables } from "./permission-tables.ts";
export {
  grantsOfToken,
  versionsOfPrincipal,
  WITHHELD,
  withheldOrganizations,
} from "./versions.ts";
export type { WorkspaceLevel, WorkspacePermissions } from "./workspace-levels.ts";
export { workspaceLevels, workspacePermissionValues } from "./workspace-levels.ts";

const serviceCaller = () => forbidden("service_caller", "A service is not allowed to do this.");

/**
 * Returns the action that reads the target of `action`. If a caller is not allowed to read the target, a refusal must
 * not reveal that the target exists.
 */
const readingOf = (action: Action): Action => {
  const [noun] = action.split(":");
  if (noun === "organization") return "organization:read";
  if (action === "project:create" || action === "project:list") return "organization:read";
  return noun === "project" ? "project:read" : "workspace:read";
};

/** Returns the caller's grants. Throws `forbidden` for services, which have no grants. */
export function grantsOf(caller: Caller): Grants {
  if (caller.kind !== "principal") throw serviceCaller();
  return caller.grants;
}

/** Throws `unauthenticated` if the organization refuses user tokens and the caller used one. */
export function refuseUserToken(grants: Grants, organizationId: string): void {
  if (grants.organizations.get(organizationId)?.refused) {
    throw asRefusal(unauthenticated("The organization does not accept user tokens."), {
      organizationId,
    });
  }
}

/**
 * Throws `notFound` if the caller is not allowed to read the target, `forbidden` if it is allowed to read the target
 * but not to perform the action, and `unauthenticated` if the organization refuses user tokens and the caller used one.
 * Throws `forbidden` for services.
 */
export function authorize<A extends Action>(
  caller: Caller,
  action: A,
  target: TargetOf<A>,
  what: string = readingOf(action).split(":")[0] ?? "resource",
): asserts caller is Extract<Caller, { kind: "principal" }> {
  if (caller.kind !== "principal") throw serviceCaller();
  if (allowed(caller.grants, action, target)) return;
  refuseUserToken(caller.grants, target.organizationId);
  const known: Target = target;
  if (!allowed(caller.grants, readingOf(action), known)) {
    throw asRefusal(notFound(what), known);
  }
  throw asRefusal(
    forbidden("not_allowed", `You are not allowed to do this to the ${what} (${action}).`),
    known,
  );
}

/**
 * Authorizes like `authorize`, but throws `notFound` instead of `forbidden` if the caller is not allowed to perform the
 * action, so that the response does not reveal whether the target exists. Throws `unauthenticated` if the organization
 * refuses user tokens and the caller used one, and `forbidden` for services.
 */
export function authorizeOrNotFound<A extends Action>(
  caller: Caller,
  action: A,
  target: TargetOf<A>,
  what: string,
): asserts caller is Extract<Caller, { kind: "principal" }> {
  if (caller.kind !== "principal") throw serviceCaller();
  if (allowed(caller.grants, action, target)) return;
  refuseUserToken(caller.grants, target.organizationId);
  throw asRefusal(notFound(what), target);
}

/**
 * Authorizes like `authorize`, for methods that services also call. Services have no grants: a method's `callers`
 * option decides which services may call it.
 */
export function authorizeUnlessService<A extends Action>(
  caller: Caller,
  action: A,
  target: TargetOf<A>,
): void {
  if (caller.kind !== "service") authorize(caller, action, target);
}

/**
 * Throws `notFound` if the caller is not an administrator of the installation, so that the response does not reveal
 * whether the target exists. Throws `forbidden` for services.
 */
export function requireAdministrator(
  caller: Caller,
): asserts caller is Extract<Caller, { kind: "principal" }> {
  if (caller.kind !== "principal") throw serviceCaller();
  if (!caller.grants.administrator) throw asRefusal(notFound());
}

/** Checks like `requireAdministrator`, for methods that services also call. */
export function requireAdministratorUnlessService(caller: Caller): void {
  if (caller.kind !== "service") requireAdministrator(caller);
}
