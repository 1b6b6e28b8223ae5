import type { TagBinding } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalTime } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

export const tagBindingResource = resource<TagBinding, RequestContext>({
  type: "tag-bindings",
  id: ({ id }) => id,
  attributes: {
    key: [z.string(), ({ key }) => key],
    value: [z.string(), ({ value }) => value],
    "created-at": [optionalTime, ({ createdAt }) => timestamp(createdAt)],
  },
});
