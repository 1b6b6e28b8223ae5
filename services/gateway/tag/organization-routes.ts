import { TagService } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { text } from "../http/query.ts";
import { list } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { listBody } from "../jsonapi/body.ts";
import { tagResource } from "./resource.ts";

const path = "/organizations/:organizationName/tags";

const idsOf = (type: string) => listBody(z.object({ type: z.literal(type), id: z.string() }));

export const organizationTagRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path,
    summary: "List the tags that an organization's workspaces have",
    query: {
      page,
      query: text("q", "Part of the tag's name."),
      excludeWorkspaceId: text(
        "filter[exclude][taggable][id]",
        "Only tags that this workspace does not have.",
      ),
    },
    success: [200, list(tagResource, "tags")],
    failures: [400, 404],
    handle: ({ client, params, query: { page, ...filters }, caller }) =>
      client(TagService).listOrganizationTags({ ...params, ...filters, ...page }, caller),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path,
    summary: "Remove tags from all workspaces",
    body: idsOf("tags"),
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(TagService).deleteOrganizationTags(
        { organizationName: params.organizationName, tagIds: body.data.map(({ id }) => id) },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: "/tags/:tagId/relationships/workspaces",
    summary: "Add a tag to many workspaces",
    body: idsOf("workspaces"),
    pointers: { workspaceIds: "/data", "workspaceIds[]": "/data/[]/id" },
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(TagService).addTagToWorkspaces(
        { tagId: params.tagId, workspaceIds: body.data.map(({ id }) => id) },
        caller,
      ),
  }),
];
