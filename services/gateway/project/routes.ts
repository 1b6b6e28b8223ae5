import { badRequest } from "@statehouse/errors";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, flag, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route, routeForLongLivedCredentials } from "../http/route.ts";
import { listBody, typeOf } from "../jsonapi/body.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { tagFilters } from "../tag/filters-routes.ts";
import { projectNoun, projectResource } from "./resource.ts";

/** Maximum number of workspaces that one request can move. The request locks all of them at the same time. */
const MAX_MOVED = 100;

const includes = ["effective_tag_bindings"] as const;

const actions = ["create-workspace", "update"].map((name) => ({
  action: `project:${name}`,
  isRequested: flag(
    `filter[permissions][${name}]`,
    `If true, only projects on which the caller is allowed this action: ${name}. A request can filter by at most one action.`,
  ),
}));

/**
 * Reads the filter by allowed action: the list contains only projects on which the caller may do this action. Returns
 * "" if the query names no action; throws `badRequest` if it names more than one.
 */
const allowedAction = {
  parameters: actions.flatMap(({ isRequested }) => isRequested.parameters),
  read(query: URLSearchParams): string {
    const [first, ...others] = actions.filter(
      ({ isRequested }) => isRequested.read(query) === true,
    );
    if (others.length > 0) {
      throw badRequest("filter", "filter[permissions] can be true for one action only.");
    }
    return first?.action ?? "";
  },
};

export const projectRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: "/organizations/:organizationName/projects",
    summary: "List an organization's projects",
    includes,
    query: {
      page,
      query: text("q", "Part of the project's name."),
      names: texts("filter[names]", "Only projects with one of these names."),
      tagged: tagFilters,
      allowedAction,
      sort: choice("sort", ["name", "-name"], "The order of the list."),
    },
    success: [200, list(projectResource, "projects")],
    failures: [400, 404],
    handle: ({ client, params, query: { page, ...filters }, caller }) =>
      client(ProjectService).listProjects({ ...params, ...filters, ...page }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: "/organizations/:organizationName/projects",
    summary: "Create a project",
    ...bodyOf(projectNoun, ["name"]),
    validatesOnly: true,
    success: [201, one(projectResource, "project")],
    failures: [404, 422],
    handle: ({ client, params, body, validateOnly, caller }) => {
      const { name = "", description, tagBindings = [], unset: _, ...settings } = body;
      return client(ProjectService).createProject(
        { ...params, name, description, tagBindings, settings, validateOnly },
        caller,
      );
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: "/projects/:projectId",
    summary: "Show a project",
    includes,
    success: [200, one(projectResource, "project")],
    failures: [400, 404],
    handle: ({ client, params, caller }) =>
      client(ProjectService).getProject({ id: params.projectId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: "/projects/:projectId",
    summary: "Update a project",
    ...bodyOf(projectNoun),
    validatesOnly: true,
    success: [200, one(projectResource, "project")],
    failures: [404, 422],
    handle: ({ client, params, body, validateOnly, caller }) => {
      const { name, description, tagBindings: bindings, unset = [], ...settings } = body;
      const tagBindings = bindings && { tagBindings: bindings };
      return client(ProjectService).updateProject(
        { id: params.projectId, name, description, tagBindings, settings, unset, validateOnly },
        caller,
      );
    },
  }),
  route({
    method: "POST",
    path: "/projects/:projectId/relationships/workspaces",
    summary: "Move workspaces to a project, all of them or none",
    body: listBody(z.object({ type: typeOf("workspaces"), id: z.string() }), MAX_MOVED),
    success: [204],
    failures: [404, 422, 503],
    handle: ({ client, params, body, caller }) =>
      client(WorkspaceService).moveWorkspaces(
        { projectId: params.projectId, workspaceIds: body.data.map(({ id }) => id) },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: "/projects/:projectId",
    summary: "Delete a project that has no workspaces",
    success: [204],
    failures: [404, 409],
    handle: ({ client, params, caller }) =>
      client(ProjectService).deleteProject({ id: params.projectId }, caller),
  }),
];
