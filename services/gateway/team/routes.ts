import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { documentBody, listBody, mapOf, optional, section, typeOf } from "../jsonapi/body.ts";
import { organizationIdOf, withOrganizationName } from "../organization/name-routes.ts";
import { permissionsOf, permissionValue } from "../permission-values-routes.ts";
import { organizationMembershipResource, teamResource } from "./resource.ts";

const includes = ["users", "organization_memberships", "organization_memberships.user"] as const;

const body = documentBody(
  z.object({
    type: typeOf("teams"),
    attributes: section(
      z.object({
        name: optional(z.string()),
        visibility: optional(z.string()),
        description: z.string().nullish(),
        "sso-team-id": z.string().nullish(),
        "allow-member-token-management": optional(z.boolean()),
        "organization-access": optional(mapOf(permissionValue)),
      }),
    ),
  }),
);

type Attributes = z.infer<typeof body>["data"]["attributes"];

const settingsOf = (attributes: Attributes) => {
  const { name, visibility, description, "sso-team-id": ssoTeamId } = attributes;
  const allowMemberTokenManagement = attributes["allow-member-token-management"];
  return {
    ...(name === undefined ? {} : { name }),
    ...(visibility === undefined ? {} : { visibility }),
    // Null removes the description or the SSO team id.
    ...(description === undefined ? {} : { description: description ?? "" }),
    ...(ssoTeamId === undefined ? {} : { ssoTeamId: ssoTeamId ?? "" }),
    ...(allowMemberTokenManagement === undefined ? {} : { allowMemberTokenManagement }),
    organizationAccess: permissionsOf("", attributes["organization-access"]),
  };
};

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
      q: text("q", "Part of the team's name."),
      names: texts("filter[names]", "Only teams with one of these names."),
    },
    success: [200, list(teamResource)],
    failures: [400, 404],
    handle: async (input) => {
      const { params, query, client, caller } = input;
      const { page } = query;
      const { teams, totalCount } = await client(TeamService).listTeams(
        {
          organizationId: await organizationIdOf(input, params.organizationName),
          query: query.q,
          names: query.names,
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      const { organizationName } = params;
      return { items: teams.map((team) => ({ ...team, organizationName })), page, totalCount };
    },
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Create a team",
    body,
    success: [201, one(teamResource)],
    failures: [404, 422],
    handle: async (input) => {
      const { params, client, caller, body } = input;
      const { team } = await client(TeamService).createTeam(
        {
          organizationId: await organizationIdOf(input, params.organizationName),
          settings: settingsOf(body.data.attributes),
        },
        caller,
      );
      return team && { ...team, organizationName: params.organizationName };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show a team",
    includes,
    success: [200, one(teamResource)],
    failures: [400, 404],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { team } = await client(TeamService).getTeam({ id: params.teamId }, caller);
      return withOrganizationName(input, team);
    },
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Update a team",
    body,
    success: [200, one(teamResource)],
    failures: [404, 409, 422],
    handle: async (input) => {
      const { params, client, caller, body } = input;
      const { team } = await client(TeamService).updateTeam(
        { id: params.teamId, settings: settingsOf(body.data.attributes) },
        caller,
      );
      return withOrganizationName(input, team);
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
    success: [200, list(organizationMembershipResource)],
    failures: [400, 404],
    handle: async (input) => {
      const { params, query, client, caller } = input;
      const { page, status, sort } = query;
      const found = await client(OrganizationMembershipService).listOrganizationMemberships(
        { teamId: params.teamId, status, sort, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      const [first] = found.organizationMemberships;
      const organizationName = (await withOrganizationName(input, first))?.organizationName;
      const items = found.organizationMemberships.map((one) => ({ ...one, organizationName }));
      return { items, page, totalCount: found.totalCount };
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
