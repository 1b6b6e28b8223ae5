import type { Tag } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

export const tagResource = resource<Tag, RequestContext>({
  type: "tags",
  id: ({ id }) => id,
  attributes: ({ name, instanceCount, createdAt }) => ({
    name,
    "instance-count": instanceCount,
    "created-at": timestamp(createdAt),
  }),
  relationships: {
    organization: toOne({
      linkage: ({ organizationName }) => ({ type: "organizations", id: organizationName }),
    }),
  },
});
