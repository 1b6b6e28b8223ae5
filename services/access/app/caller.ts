import {
  allowed,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
  withheldOrganizations,
} from "@statehouse/authorization";
import { isId } from "@statehouse/postgres/ids";
import { organizationNotFound } from "../domain/errors.ts";
import type { OrganizationId, UserId } from "../domain/ids.ts";
import type { TeamViewer } from "../domain/team.ts";

/** The caller's grants in an organization. Throws `notFound` unless the caller belongs to it. */
export function grantsIn(caller: Caller, organizationId: OrganizationId): OrganizationGrants {
  authorize(caller, "organization:read", { organizationId }, "organization");
  const found = caller.grants.organizations.get(organizationId);
  if (!found) throw organizationNotFound();
  return found;
}

/**
 * Creates the function that decides which of an organization's teams the principal sees; undefined if the principal
 * does not belong to the organization.
 */
export function teamViewerIn(
  grants: Grants,
  organizationId: OrganizationId,
): TeamViewer | undefined {
  const found = grants.organizations.get(organizationId);
  if (!found || found.refused) return undefined;
  const { owner, teamIds } = found;
  const seesSecretTeams = allowed(grants, "organization:read-secret-teams", { organizationId });
  return { owner, teamIds, seesSecretTeams };
}

/** Whether the caller's token has no access to an organization that its user may belong to. */
export const isWithheld = (caller: Caller, organizationId: OrganizationId): boolean =>
  caller.kind === "principal" &&
  withheldOrganizations(caller.principal.versions).includes(organizationId);

/** The id of the calling user; undefined for other callers. */
export const callingUser = (caller: Caller): UserId | undefined =>
  caller.kind === "principal" &&
  caller.principal.type === "user" &&
  isId("user", caller.principal.id)
    ? caller.principal.id
    : undefined;
