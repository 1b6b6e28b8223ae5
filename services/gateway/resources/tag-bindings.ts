import type { TagBinding } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

export const tagBindingResource = resource<TagBinding, RequestContext>({
  type: "tag-bindings",
  id: ({ id }) => id,
  attributes: ({ key, value, createdAt }) => ({ key, value, "created-at": timestamp(createdAt) }),
});
