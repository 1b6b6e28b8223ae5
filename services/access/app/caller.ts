import {
  allowed,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
} from "@statehouse/authorization";
import { noSuchOrganization } from "../domain/errors.ts";
import type { OrganizationId } from "../domain/ids.ts";
import type { Membership } from "../domain/team.ts";

/** The caller's grants in an organization. Throws `notFound` unless the caller belongs to it. */
export function grantsIn(caller: Caller, organizationId: OrganizationId): OrganizationGrants {
  authorize(caller, "organization:read", { organizationId }, "organization");
  const found = caller.grants.organizations.get(organizationId);
  if (!found) throw noSuchOrganization();
  return found;
}

/** What decides which of an organization's teams a caller sees; undefined: none, because it does not belong to it. */
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

/** The id of the calling user, if the caller is one. */
export const callingUser = (caller: Caller): string | undefined =>
  caller.kind === "principal" && caller.principal.type === "user" ? caller.principal.id : undefined;
