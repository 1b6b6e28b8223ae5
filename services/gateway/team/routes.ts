import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { TeamService, type TeamSettingsSchema } from "@statehouse/proto/statehouse/access/v1/team";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { documentBody, listBody, mapOf, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { type FieldsOf, fieldsIn } from "../jsonapi/noun.ts";
import { organizationIdOf, withOrganizationName } from "../organization/name-routes.ts";
import { permissionsOf, permissionValue } from "../permission-values-routes.ts";
import { organizationMembershipResource, teamResource } from "./resource.ts";

const includes = ["users", "organization_memberships", "organization_memberships.user"] as const;

const body = documentBody(
  z.object({
    type: uncheckedTypeOf("teams"),
    attributes: section(
      fieldsIn<FieldsOf<typeof TeamSettingsSchema>>({
        name: { field: "name", in: z.string() },
        visibility: { field: "visibility", in: z.string() },
        description: { field: "description", in: z.string(), removable: true },
        "sso-team-id": { field: "ssoTeamId", in: z.string(), removable: true },
        "allow-member-token-management": { field: "allowMemberTokenManagement", in: z.boolean() },
        "organization-access": {
          field: "organizationAccess",
          in: mapOf(permissionValue).transform((access) => permissionsOf("", access)),
        },
      }),
    ),
  }),
).transform(({ data }) => {
  const { unset = [], ...settings } = data.attributes;
  // Null removes the description or the SSO team id, which an empty text does in the service's message.
  return { ...settings, ...Object.fromEntries(unset.map((field) => [field, ""])) };
});

const ofOrganization = "/organizations/:organizationName/teams";
const byId = "/teams/:teamId";

const usersBody = listBody(z.object({ type: z.literal("users"), id: z.string() }));
const membershipsBody = listBody(
  z.object({ type: z.literal("organization-memberships"), id: z.string() }),
);
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

const memberFailures = [404, 409, 422] as const;

export const teamRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's teams",
    includes,
    query: {
      page,
      query: text("q", "Part of the team's name."),
      names: texts("filter[names]", "Only teams with one of these names."),
    },
    success: [200, list(teamResource, "teams")],
    failures: [400, 404],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { page, ...filters } = input.query;
      const { teams, totalCount } = await client(TeamService).listTeams(
        { organizationId: await organizationIdOf(input), ...filters, ...page },
        caller,
      );
      return { teams: teams.map((team) => ({ ...team, ...params })), totalCount };
    },
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Create a team",
    body,
    success: [201, one(teamResource, "team")],
    failures: [404, 422],
    handle: async (input) => {
      const { params, client, caller, body: settings } = input;
      const request = { organizationId: await organizationIdOf(input), settings };
      const { team } = await client(TeamService).createTeam(request, caller);
      return { team: team && { ...team, ...params } };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show a team",
    includes,
    success: [200, one(teamResource, "team")],
    failures: [400, 404],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { team } = await client(TeamService).getTeam({ id: params.teamId }, caller);
      return { team: await withOrganizationName(input, team) };
    },
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Update a team",
    body,
    success: [200, one(teamResource, "team")],
    failures: [404, 409, 422],
    handle: async (input) => {
      const { params, client, caller, body: settings } = input;
      const request = { id: params.teamId, settings };
      const { team } = await client(TeamService).updateTeam(request, caller);
      return { team: await withOrganizationName(input, team) };
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: byId,
    summary: "Delete a team, with its grants and tokens",
    success: [204],
    failures: [404, 409],
    handle: ({ client, params, caller }) =>
      client(TeamService).deleteTeam({ id: params.teamId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: `${byId}/relationships/users`,
    summary: "Add users to a team, by name",
    body: usersBody,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, caller, body }) =>
      client(TeamService).addTeamMembers({ teamId: params.teamId, users: idsOf(body) }, caller),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: `${byId}/relationships/users`,
    summary: "Remove users from a team, by name",
    body: usersBody,
    success: [204],
    failures: memberFailures,
    handle: ({ client, params, caller, body }) =>
      client(TeamService).removeTeamMembers({ teamId: params.teamId, users: idsOf(body) }, caller),
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: `${byId}/relationships/organization-memberships`,
    summary: "List the memberships of a team's members",
    includes: ["user", "teams"],
    query: {
      page,
      status: text("filter[status]", "Only memberships with this status: invited or active."),
      sort: choice("sort", ["status", "-status"], "The order of the list."),
    },
    success: [200, list(organizationMembershipResource, "memberships")],
    failures: [400, 404],
    handle: async (input) => {
      const { params, query, client, caller } = input;
      const { page, ...filters } = query;
      const found = await client(OrganizationMembershipService).listOrganizationMemberships(
        { ...params, ...filters, ...page },
        caller,
      );
      const [first] = found.organizationMemberships;
      const organizationName = (await withOrganizationName(input, first))?.organizationName;
      return {
        memberships: found.organizationMemberships.map((one) => ({ ...one, organizationName })),
        totalCount: found.totalCount,
      };
    },
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: `${byId}/relationships/organization-memberships`,
    summary: "Add members to a team, by membership",
    body: membershipsBody,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, caller, body }) =>
      client(TeamService).addTeamMembers(
        { teamId: params.teamId, organizationMembershipIds: idsOf(body) },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: `${byId}/relationships/organization-memberships`,
    summary: "Remove members from a team, by membership",
    body: membershipsBody,
    success: [204],
    failures: memberFailures,
    handle: ({ client, params, caller, body }) =>
      client(TeamService).removeTeamMembers(
        { teamId: params.teamId, organizationMembershipIds: idsOf(body) },
        caller,
      ),
  }),
];
