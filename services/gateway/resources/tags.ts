import type { Tag } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";

export const tagResource = resource<Tag, RequestContext>({
  type: "tags",
  id: ({ id }) => id,
  attributes: ({ name, instanceCount }) => ({ name, "instance-count": instanceCount }),
  relationships: {
    organization: toOne({
      linkage: ({ organizationName }) => ({ type: "organizations", id: organizationName }),
    }),
  },
});
