import {
  allowed,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
  withheldOrganizations,
} from "@statehouse/authorization";
import { isId } from "@statehouse/postgres/ids";
import { organizationNotFound } from "./errors-domain.ts";
import type { OrganizationId, UserId } from "./ids-domain.ts";
import type { TeamViewer } from "./team/domain.ts";

/** Returns the caller's grants in an organization. Throws `notFound` if the caller does not belong to it. */
export function grantsIn(caller: Caller, organizationId: OrganizationId): OrganizationGrants {
  authorize(caller, "organization:read", { organizationId }, "organization");
  const found = caller.grants.organizations.get(organizationId);
  if (!found) throw organizationNotFound();
  return found;
}

/**
 * Returns the values that decide which teams of an organization the principal sees. Returns undefined if the principal
 * does not belong to the organization, or if it is a user and the organization does not accept user tokens.
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

/**
 * Returns whether the organization does not accept the caller's token because of the token's lifetime. The calling user
 * can nevertheless be a member of the organization.
 */
export const isWithheld = (caller: Caller, organizationId: OrganizationId): boolean =>
  caller.kind === "principal" &&
  withheldOrganizations(caller.principal.versions).includes(organizationId);

/** Returns the organizations that do not accept the caller's token because of its type or its lifetime. */
export function organizationsRefusing(caller: Caller): string[] {
  if (caller.kind !== "principal") return [];
  const refused = [...caller.grants.organizations.values()].filter(({ refused }) => refused);
  return [
    ...refused.map(({ organizationId }) => organizationId),
    ...withheldOrganizations(caller.principal.versions),
  ];
}

/** Returns the id of the calling user; undefined if the caller is not a user. */
export const callingUser = (caller: Caller): UserId | undefined =>
  caller.kind === "principal" &&
  caller.principal.type === "user" &&
  isId("user", caller.principal.id)
    ? caller.principal.id
    : undefined;
