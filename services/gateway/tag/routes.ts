import { TagService } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { listBody, optional } from "../jsonapi/body.ts";
import { tagResource } from "./resource.ts";

type TagRef = { by: { case: "id" | "name"; value: string } };

/** A tag, identified by its id or by its name. */
const tagItem = z
  .object({
    type: z.literal("tags"),
    id: optional(z.string()),
    attributes: optional(z.object({ name: optional(z.string()) })),
  })
  .transform(({ id, attributes }, context): TagRef => {
    if (id) return { by: { case: "id", value: id } };
    const name = attributes?.name;
    if (!name) {
      context.addIssue({
        code: "custom",
        path: ["attributes", "name"],
        message: "is required if no id is given",
      });
      return z.NEVER;
    }
    return { by: { case: "name", value: name } };
  });

const body = listBody(tagItem);
const pointers = { tags: "/data", "tags[]": "/data/[]/attributes" };
const path = "/workspaces/:workspaceId/relationships/tags";

export const tagRoutes: readonly Route[] = [
  route({
    method: "GET",
    path,
    summary: "List a workspace's tags",
    query: { page },
    success: [200, list(tagResource, "tags")],
    failures: [400, 404],
    handle: ({ client, params, query: { page }, caller }) =>
      client(TagService).listWorkspaceTags({ ...params, ...page }, caller),
  }),
  route({
    method: "POST",
    path,
    summary: "Add tags to a workspace",
    body,
    pointers,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(TagService).addWorkspaceTags(
        { workspaceId: params.workspaceId, tags: body.data },
        caller,
      ),
  }),
  route({
    method: "DELETE",
    path,
    summary: "Remove tags from a workspace",
    body,
    pointers,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(TagService).removeWorkspaceTags(
        { workspaceId: params.workspaceId, tags: body.data },
        caller,
      ),
  }),
];
