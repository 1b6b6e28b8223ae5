import { organizationAccessNames } from "@statehouse/authorization";
import type { OrganizationMembership } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import type { Team } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { ifPresent, related, target, toManyOf, toOne } from "../jsonapi/relationship.ts";
import { type CompiledResource, resource } from "../jsonapi/resource.ts";
import { optionalText, time } from "../jsonapi/shape.ts";
import { permissionShape, permissionsFrom } from "../permissions-resource.ts";
import { timestamp } from "../timestamps-resource.ts";
import { memberResource, userResource } from "../user/resource.ts";

// Teams and memberships are in one file, because their resources refer to each other.

/** A team with the name of its organization, if that is known: the access service stores only the organization's id. */
export type NamedTeam = Team & { organizationName?: string | undefined };

export const teamPermissions = {
  "can-update": "update",
  "can-update-name": "rename",
  "can-update-visibility": "update",
  "can-update-sso-team-id": "update",
  "can-update-member-token-management": "update",
  "can-destroy": "delete",
  "can-update-membership": "manage-members",
  "can-update-organization-access": "manage-access",
  "can-update-api-token": "manage-token",
  "can-view-api-token": "manage-token",
} as const;

const permissions = permissionsFrom(teamPermissions);

export const teamResource: CompiledResource<NamedTeam, RequestContext> = resource<
  NamedTeam,
  RequestContext
>({
  type: "teams",
  id: ({ id }) => id,
  shape: {
    name: z.string(),
    description: optionalText,
    "users-count": z.int(),
    visibility: z.enum(["secret", "organization"]),
    "sso-team-id": optionalText,
    "allow-member-token-management": z.boolean(),
    "organization-access": z.object(
      Object.fromEntries(organizationAccessNames.map((name) => [name, z.boolean()])),
    ),
    permissions: permissionShape(teamPermissions),
  },
  attributes: (team) => ({
    name: team.name,
    description: team.description ?? null,
    "users-count": team.usersCount,
    visibility: team.visibility,
    "sso-team-id": team.ssoTeamId ?? null,
    "allow-member-token-management": team.allowMemberTokenManagement,
    "organization-access": Object.fromEntries(
      organizationAccessNames.map((name) => [name, team.organizationAccess.includes(name)]),
    ),
    permissions: permissions(team.allowedActions),
  }),
  relationships: {
    organization: ifPresent("organizations", ({ organizationName }) => organizationName),
    users: toManyOf({
      type: "users",
      idsOf: ({ members }) => members.map(({ userId }) => userId),
      resource: () => userResource,
    }),
    "organization-memberships": toManyOf({
      type: "organization-memberships",
      idsOf: ({ members }) => members.map(({ organizationMembershipId: id }) => id),
      resource: () => organizationMembershipResource,
    }),
    "authentication-token": related(({ id }) => `/api/v2/teams/${id}/authentication-token`),
    "authentication-tokens": related(({ id }) => `/api/v2/teams/${id}/authentication-tokens`),
  },
  links: ({ id }) => ({ self: `/api/v2/teams/${id}` }),
  loadMany: async (ids, { client, caller }) =>
    (await client(TeamService).batchGetTeams({ ids: [...ids] }, caller)).teams,
});

/** A membership with the name of its organization, if that is known. */
export type NamedMembership = OrganizationMembership & { organizationName?: string | undefined };

export const organizationMembershipResource: CompiledResource<NamedMembership, RequestContext> =
  resource<NamedMembership, RequestContext>({
    type: "organization-memberships",
    id: ({ id }) => id,
    shape: {
      status: z.enum(["invited", "active"]),
      email: optionalText,
      "created-at": time,
    },
    attributes: (membership) => ({
      status: membership.status,
      // Null for callers who are not allowed to see the address.
      email: membership.email ?? null,
      "created-at": timestamp(membership.createdAt),
    }),
    relationships: {
      organization: ifPresent("organizations", ({ organizationName }) => organizationName),
      user: toOne({
        linkage: ({ userId }) => ({ type: "users", id: userId }),
        targets: [
          target(
            () => memberResource,
            ({ userId }) => userId,
          ),
        ],
      }),
      teams: toManyOf({
        type: "teams",
        idsOf: ({ teamIds }) => teamIds,
        resource: () => teamResource,
      }),
    },
    // The id of an invitation is treated as a secret, because it is used to accept the invitation.
    hasSecret: ({ status }) => status === "invited",
    links: ({ id }) => ({ self: `/api/v2/organization-memberships/${id}` }),
    loadMany: async (ids, { client, caller }) =>
      (
        await client(OrganizationMembershipService).batchGetOrganizationMemberships(
          { ids: [...ids] },
          caller,
        )
      ).organizationMemberships,
  });
