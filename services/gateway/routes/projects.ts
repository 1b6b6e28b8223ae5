import { badRequest } from "@statehouse/errors";
import { z } from "zod";
import { readPage } from "../http/paging.ts";
import { listParameter, parameter } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { projectResource } from "../resources/projects.ts";
import { tagBindingLinkages } from "./tag-linkages.ts";

const sorts: readonly string[] = ["name", "-name"];

function readSort(query: URLSearchParams): string {
  const sort = parameter(query, "sort") ?? "";
  if (sort !== "" && !sorts.includes(sort)) {
    throw badRequest("sort", `sort must be one of ${sorts.join(", ")}.`);
  }
  return sort;
}

export const projectRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/organizations/:organizationName/projects",
    summary: "List an organization's projects",
    success: [200, list(projectResource)],
    failures: [400, 404],
    handle: async ({ services: { workspaces }, params, query, caller }) => {
      const page = readPage(query);
      const { projects, totalCount } = await workspaces.projects.listProjects(
        {
          organizationName: params.organizationName,
          query: parameter(query, "q") ?? "",
          names: listParameter(query, "filter[names]"),
          sort: readSort(query),
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      return { items: projects, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path: "/organizations/:organizationName/projects",
    summary: "Create a project",
    body: documentBody(
      z.object({
        type: typeOf("projects"),
        attributes: section(z.object({ name: z.string(), description: optional(z.string()) })),
        relationships: section(z.object({ "tag-bindings": tagBindingLinkages })),
      }),
    ),
    success: [201, one(projectResource)],
    failures: [404, 422],
    handle: async ({ services: { workspaces }, params, body, caller }) => {
      const { attributes, relationships } = body.data;
      const { project } = await workspaces.projects.createProject(
        {
          organizationName: params.organizationName,
          name: attributes.name,
          ...(attributes.description === undefined ? {} : { description: attributes.description }),
          tagBindings: relationships["tag-bindings"] ?? [],
        },
        caller,
      );
      return project;
    },
  }),
  route({
    method: "GET",
    path: "/projects/:projectId",
    summary: "Show a project",
    success: [200, one(projectResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params, caller }) =>
      (await workspaces.projects.getProject({ id: params.projectId }, caller)).project,
  }),
];
