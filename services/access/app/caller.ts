import {
  type Action,
  allowed,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
  requireSight,
  type TargetOf,
} from "@statehouse/authorization";
import { noSuchOrganization } from "../domain/errors.ts";
import type { OrganizationId } from "../domain/ids.ts";
import type { Membership } from "../domain/team.ts";

/** As `authorize`; services may what their methods declare them for. */
export function authorizeUser<A extends Action>(
  caller: Caller,
  action: A,
  target: TargetOf<A>,
  what?: string,
): void {
  if (caller.kind === "principal") authorize(caller, action, target, what);
}

/** As `requireSight`; services may what their methods declare them for. */
export function requireSightOfUser<A extends Action>(
  caller: Caller,
  action: A,
  target: TargetOf<A>,
  what: string,
): void {
  if (caller.kind === "principal") requireSight(caller, action, target, what);
}

/** What the caller holds in an organization. Throws `notFound` unless it belongs to it. */
export function grantsIn(caller: Caller, organizationId: OrganizationId): OrganizationGrants {
  authorize(caller, "organization:read", { organizationId }, "organization");
  const found = caller.grants.organizations.get(organizationId);
  if (!found) throw noSuchOrganization();
  return found;
}

/** What decides which of an organization's teams somebody sees; undefined: none, not belonging to it. */
export function membershipIn(
  grants: Grants,
  organizationId: OrganizationId,
): Membership | undefined {
  const found = grants.organizations.get(organizationId);
  if (!found || found.refused) return undefined;
  const { owner, teamIds } = found;
  const seesSecretTeams = allowed(grants, "organization:read-secret-teams", { organizationId });
  return { owner, teamIds, seesSecretTeams };
}

/** The id of the user that calls, if it is one. */
export const callingUser = (caller: Caller): string | undefined =>
  caller.kind === "principal" && caller.principal.type === "user" ? caller.principal.id : undefined;
