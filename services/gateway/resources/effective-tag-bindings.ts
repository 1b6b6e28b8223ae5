import type { TagBinding } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import type { RequestContext } from "../http/route.ts";
import { type Links, resource } from "../jsonapi/resource.ts";

const own: Links = {};

/** A tag binding in effect for a workspace. An inherited binding names the project that it is inherited from. */
export const effectiveTagBindingResource = resource<TagBinding, RequestContext>({
  type: "effective-tag-bindings",
  id: ({ id }) => id,
  attributes: ({ key, value }) => ({ key, value }),
  relationships: {
    "inherited-from": {
      show: ({ inheritedFromProjectId: id }) => (id ? { data: { type: "projects", id } } : {}),
    },
  },
  links: ({ inheritedFromProjectId: id }) =>
    id ? { "inherited-from": `/api/v2/projects/${id}` } : own,
});
