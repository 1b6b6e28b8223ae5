import { WorkspaceResourceService } from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import { page } from "../http/paging.ts";
import { text } from "../http/query.ts";
import { list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { workspaceResourceResource } from "./resource.ts";

export const workspaceResourceRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/resources",
    summary: "List the resources that a workspace's current state manages",
    query: {
      page,
      query: text("q", "Part of the resource's address."),
      sort: text("sort", "A field and an order, such as `name:asc` or `updatedAt:desc`."),
    },
    success: [200, list(workspaceResourceResource, "resources")],
    failures: [400, 404],
    handle: ({ client, params, query: { page, ...filters }, caller }) =>
      client(WorkspaceResourceService).listWorkspaceResources(
        { ...params, ...filters, ...page },
        caller,
      ),
  }),
];
