import { organizationAccessNames } from "@statehouse/authorization";
import type { OrganizationMembership } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import type { Team } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { ifPresent, related, toManyOf, toOneOf } from "../jsonapi/relationship.ts";
import { type CompiledResource, resource } from "../jsonapi/resource.ts";
import { optionalText, time } from "../jsonapi/shape.ts";
import { permissionsFrom } from "../permissions-resource.ts";
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

export const teamResource: CompiledResource<NamedTeam, RequestContext> = resource<
  NamedTeam,
  RequestContext
>({
  type: "teams",
  id: ({ id }) => id,
  attributes: {
    name: [z.string(), ({ name }) => name],
    description: [optionalText, ({ description }) => description ?? null],
    "users-count": [z.int(), ({ usersCount }) => usersCount],
    visibility: [z.enum(["secret", "organization"]), ({ visibility }) => visibility],
    "sso-team-id": [optionalText, ({ ssoTeamId }) => ssoTeamId ?? null],
    "allow-member-token-management": [
      z.boolean(),
      ({ allowMemberTokenManagement }) => allowMemberTokenManagement,
    ],
    "organization-access": [
      z.object(Object.fromEntries(organizationAccessNames.map((name) => [name, z.boolean()]))),
      ({ organizationAccess }) =>
        Object.fromEntries(
          organizationAccessNames.map((name) => [name, organizationAccess.includes(name)]),
        ),
    ],
    permissions: permissionsFrom(teamPermissions),
  },
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
    attributes: {
      status: [z.enum(["invited", "active"]), ({ status }) => status],
      // Null for callers who are not allowed to see the address.
      email: [optionalText, ({ email }) => email ?? null],
      "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    },
    relationships: {
      organization: ifPresent("organizations", ({ organizationName }) => organizationName),
      user: toOneOf({
        type: "users",
        idOf: ({ userId }) => userId,
        resource: () => memberResource,
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
