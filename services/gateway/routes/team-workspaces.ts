import { z } from "zod";
import { standing } from "../http/authentication.ts";
import { readPage } from "../http/paging.ts";
import { requiredParameter } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, requiredLinkage, section, typeOf } from "../jsonapi/body.ts";
import { bothSpellings } from "../jsonapi/spelling.ts";
import { brandNames } from "../resources/brand-names.ts";
import { teamWorkspaceResource } from "../resources/team-workspaces.ts";
import { permissionsOf, permissionValue } from "./permission-values.ts";

const includes = ["team"] as const;

/** Beside the level, whatever is given counts as a permission. */
const attributesWith = <Access extends z.ZodType>(access: Access) =>
  section(bothSpellings(brandNames, z.object({ access }).catchall(permissionValue)));

const createBody = documentBody(
  z.object({
    type: typeOf("team-workspaces"),
    attributes: attributesWith(z.string()),
    relationships: section(
      z.object({ workspace: requiredLinkage("workspaces"), team: requiredLinkage("teams") }),
    ),
  }),
);
const updateBody = documentBody(
  z.object({
    type: typeOf("team-workspaces"),
    attributes: attributesWith(optional(z.string())),
  }),
);

const pointers = {
  permissions: "/data/attributes",
  workspaceId: "/data/relationships/workspace",
  teamId: "/data/relationships/team",
};

const permissionsIn = ({ access: _, ...given }: Record<string, unknown>) =>
  permissionsOf("", given);

const path = "/team-workspaces";
const byId = `${path}/:teamWorkspaceId` as const;

export const teamWorkspaceRoutes: readonly Route[] = [
  route({
    method: "GET",
    path,
    summary: "List the teams that have access to a workspace",
    includes,
    success: [200, list(teamWorkspaceResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ services: { access }, query, caller }) => {
      const page = readPage(query);
      const { teamWorkspaces, totalCount } = await access.teamWorkspaces.listTeamWorkspaces(
        {
          workspaceId: requiredParameter(query, "filter[workspace][id]"),
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      return { items: teamWorkspaces, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path,
    summary: "Give a team access to a workspace",
    body: createBody,
    pointers,
    success: [200, one(teamWorkspaceResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ services: { access }, body, caller }) => {
      const { attributes, relationships } = body.data;
      const { teamWorkspace } = await access.teamWorkspaces.createTeamWorkspace(
        {
          workspaceId: relationships.workspace,
          teamId: relationships.team,
          access: attributes.access,
          permissions: permissionsIn(attributes),
        },
        caller,
      );
      return teamWorkspace;
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show a team's access to a workspace",
    includes,
    success: [200, one(teamWorkspaceResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ services: { access }, params, caller }) =>
      (await access.teamWorkspaces.getTeamWorkspace({ id: params.teamWorkspaceId }, caller))
        .teamWorkspace,
  }),
  route({
    method: "PATCH",
    path: byId,
    summary: "Change a team's access to a workspace",
    body: updateBody,
    pointers,
    success: [200, one(teamWorkspaceResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ services, params, body, caller }) => {
      const { access } = body.data.attributes;
      const { teamWorkspace } = await services.access.teamWorkspaces.updateTeamWorkspace(
        {
          id: params.teamWorkspaceId,
          ...(access === undefined ? {} : { access }),
          permissions: permissionsIn(body.data.attributes),
        },
        caller,
      );
      return teamWorkspace;
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Take a team's access to a workspace away",
    success: [204],
    failures: [404],
    credentials: standing,
    handle: ({ services: { access }, params, caller }) =>
      access.teamWorkspaces.deleteTeamWorkspace({ id: params.teamWorkspaceId }, caller),
  }),
];
