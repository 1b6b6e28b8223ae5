import { z } from "zod";
import { standing } from "../http/authentication.ts";
import { readPage } from "../http/paging.ts";
import { requiredParameter } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, requiredLinkage, section, typeOf } from "../jsonapi/body.ts";
import { bothSpellings } from "../jsonapi/spelling.ts";
import { brandNames } from "../resources/brand-names.ts";
import { teamProjectResource } from "../resources/team-projects.ts";
import { permissionsOf, permissionValue } from "./permission-values.ts";

const includes = ["team", "project"] as const;

const attributes = z.object({
  access: z.string(),
  "project-access": optional(z.record(z.string(), permissionValue)),
  "workspace-access": optional(bothSpellings(brandNames, z.record(z.string(), permissionValue))),
});

const createBody = documentBody(
  z.object({
    type: typeOf("team-projects"),
    attributes: section(attributes),
    relationships: section(
      z.object({ project: requiredLinkage("projects"), team: requiredLinkage("teams") }),
    ),
  }),
);
const updateBody = documentBody(
  z.object({
    type: typeOf("team-projects"),
    attributes: section(attributes.extend({ access: optional(z.string()) })),
  }),
);

const pointers = {
  permissions: "/data/attributes",
  projectId: "/data/relationships/project",
  teamId: "/data/relationships/team",
};

const permissionsIn = (given: Omit<z.infer<typeof attributes>, "access">) => ({
  ...permissionsOf("project-access.", given["project-access"]),
  ...permissionsOf("workspace-access.", given["workspace-access"]),
});

const path = "/team-projects";
const byId = `${path}/:teamProjectId` as const;

export const teamProjectRoutes: readonly Route[] = [
  route({
    method: "GET",
    path,
    summary: "List the teams that have access to a project",
    includes,
    success: [200, list(teamProjectResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ services: { access }, query, caller }) => {
      const page = readPage(query);
      const { teamProjects, totalCount } = await access.teamProjects.listTeamProjects(
        {
          projectId: requiredParameter(query, "filter[project][id]"),
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      return { items: teamProjects, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path,
    summary: "Give a team access to a project",
    body: createBody,
    pointers,
    success: [200, one(teamProjectResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ services: { access }, body, caller }) => {
      const { attributes, relationships } = body.data;
      const { teamProject } = await access.teamProjects.createTeamProject(
        {
          projectId: relationships.project,
          teamId: relationships.team,
          access: attributes.access,
          permissions: permissionsIn(attributes),
        },
        caller,
      );
      return teamProject;
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show a team's access to a project",
    includes,
    success: [200, one(teamProjectResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ services: { access }, params, caller }) =>
      (await access.teamProjects.getTeamProject({ id: params.teamProjectId }, caller)).teamProject,
  }),
  route({
    method: "PATCH",
    path: byId,
    summary: "Change a team's access to a project",
    body: updateBody,
    pointers,
    success: [200, one(teamProjectResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ services, params, body, caller }) => {
      const { access } = body.data.attributes;
      const { teamProject } = await services.access.teamProjects.updateTeamProject(
        {
          id: params.teamProjectId,
          ...(access === undefined ? {} : { access }),
          permissions: permissionsIn(body.data.attributes),
        },
        caller,
      );
      return teamProject;
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Take a team's access to a project away",
    success: [204],
    failures: [404],
    credentials: standing,
    handle: ({ services: { access }, params, caller }) =>
      access.teamProjects.deleteTeamProject({ id: params.teamProjectId }, caller),
  }),
];
