import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceRefSchema } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { page } from "../http/paging.ts";
import { choice, flag, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type ParamsOf, type Route, route } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { tagFilters } from "../tag/filters-routes.ts";
import { workspaceNoun } from "./attributes-resource.ts";
import { workspaceResource } from "./resource.ts";

type WorkspaceRef = MessageInitShape<typeof WorkspaceRefSchema>;

const includes = [
  "agent_pool",
  "current_configuration_version",
  "current_configuration_version.ingress_attributes",
  "current_run",
  "current_run.configuration_version",
  "current_run.configuration_version.ingress_attributes",
  "current_run.plan",
  "current_state_version",
  "effective_tag_bindings",
  "locked_by",
  "organization",
  "outputs",
  "project",
  "readme",
] as const;

/** The sort orders that the workspaces service supports. */
const sorts = ["name", "latest-change-at", "current-run.created-at"].flatMap((key) => [
  key,
  `-${key}`,
]);

const byId = "/workspaces/:workspaceId";
const byName = "/organizations/:organizationName/workspaces/:name";

const idRef = ({ workspaceId }: ParamsOf<typeof byId>): WorkspaceRef => ({
  by: { case: "id", value: workspaceId },
});
const nameRef = ({ organizationName, name }: ParamsOf<typeof byName>): WorkspaceRef => ({
  by: { case: "name", value: { organizationName, name } },
});

/** Declares the routes of a workspace at one of its two paths: by id, or by organization and name. */
const routesAt = <Path extends string>(
  path: Path,
  refOf: (params: ParamsOf<Path>) => WorkspaceRef,
): Route[] => [
  route({
    method: "GET",
    path,
    summary: "Show a workspace",
    includes,
    success: [200, one(workspaceResource, "workspace")],
    failures: [400, 404],
    handle: ({ client, params, caller }) =>
      client(WorkspaceService).getWorkspace({ workspace: refOf(params) }, caller),
  }),
  route({
    method: "PATCH",
    path,
    summary: "Update a workspace",
    ...bodyOf(workspaceNoun),
    validatesOnly: true,
    success: [200, one(workspaceResource, "workspace")],
    failures: [404, 422, 503],
    handle: ({ client, params, body, validateOnly, caller }) =>
      client(WorkspaceService).updateWorkspace(
        { workspace: refOf(params), settings: body, unset: body.unset ?? [], validateOnly },
        caller,
      ),
  }),
  route({
    method: "DELETE",
    path,
    summary: "Force-delete a workspace",
    success: [204],
    failures: [403, 404, 503],
    handle: ({ client, params, caller }) =>
      client(WorkspaceService).deleteWorkspace({ workspace: refOf(params) }, caller),
  }),
];

const safeDeleteAt = <Path extends string>(
  path: Path,
  refOf: (params: ParamsOf<Path>) => WorkspaceRef,
): Route =>
  route({
    method: "POST",
    path,
    summary: "Safely delete a workspace that manages no resources",
    success: [204],
    failures: [404, 409, 503],
    handle: ({ client, params, caller }) =>
      client(WorkspaceService).safeDeleteWorkspace({ workspace: refOf(params) }, caller),
  });

export const workspaceRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/organizations/:organizationName/workspaces",
    summary: "List an organization's workspaces",
    includes,
    query: {
      page,
      searchName: text("search[name]", "Part of the workspace's name."),
      wildcardName: text(
        "search[wildcard-name]",
        "The workspace's name; `*` at its beginning or end stands for any text.",
      ),
      searchTags: texts("search[tags]", "Only workspaces that have all these tags."),
      excludeTags: texts(
        ["search[exclude-tags]", "search[exclude_tags]"],
        "Only workspaces that have none of these tags.",
      ),
      tagged: tagFilters,
      taggedAny: flag(
        "filter[tag-union]",
        "If true, only workspaces that match at least one of the filters `filter[tagged]`; otherwise they must match all of them.",
      ),
      currentRunStatuses: texts(
        "filter[current-run][status]",
        "Only workspaces whose current run has one of these statuses.",
      ),
      locked: choice(
        "filter[locked]",
        ["true", "false"],
        "If true, only locked workspaces; if false, only workspaces that are not locked.",
        "filter",
      ),
      sort: choice("sort", sorts, "The order of the list."),
      projectId: text("filter[project][id]", "Only workspaces of this project."),
    },
    success: [200, list(workspaceResource, "workspaces")],
    failures: [400, 404],
    handle: ({ client, params, query, caller }) => {
      const { page, locked: text, taggedAny = false, ...filters } = query;
      const locked = text === "" ? undefined : text === "true";
      return client(WorkspaceService).listWorkspaces(
        { ...params, ...filters, taggedAny, locked, ...page },
        caller,
      );
    },
  }),
  route({
    method: "POST",
    path: "/organizations/:organizationName/workspaces",
    summary: "Create a workspace",
    ...bodyOf(workspaceNoun, ["name"]),
    validatesOnly: true,
    success: [201, one(workspaceResource, "workspace")],
    failures: [404, 422],
    handle: ({ client, params, body, validateOnly, caller }) =>
      client(WorkspaceService).createWorkspace({ ...params, settings: body, validateOnly }, caller),
  }),
  ...routesAt(byId, idRef),
  ...routesAt(byName, nameRef),
  safeDeleteAt(`${byId}/actions/safe-delete`, idRef),
  safeDeleteAt(`${byName}/actions/safe-delete`, nameRef),
];
