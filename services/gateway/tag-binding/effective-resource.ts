import type { TagBinding } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { ifPresent } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";

/** A tag binding in effect for a workspace or project. An inherited binding names the project that has it. */
export const effectiveTagBindingResource = resource<TagBinding, RequestContext>({
  type: "effective-tag-bindings",
  id: ({ id }) => id,
  attributes: {
    key: [z.string(), ({ key }) => key],
    value: [z.string(), ({ value }) => value],
  },
  relationships: {
    "inherited-from": ifPresent("projects", ({ inheritedFromProjectId }) => inheritedFromProjectId),
  },
  linkNames: ["inherited-from"],
  linksAreOptional: true,
  links: ({ inheritedFromProjectId: id }) =>
    id ? { "inherited-from": `/api/v2/projects/${id}` } : undefined,
});
