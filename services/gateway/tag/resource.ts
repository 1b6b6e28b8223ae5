import type { Tag } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalTime } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

export const tagResource = resource<Tag, RequestContext>({
  type: "tags",
  id: ({ id }) => id,
  attributes: {
    name: [z.string(), ({ name }) => name],
    "instance-count": [z.int(), ({ instanceCount }) => instanceCount],
    "created-at": [optionalTime, ({ createdAt }) => timestamp(createdAt)],
  },
  relationships: {
    organization: toOneOf({
      type: "organizations",
      idOf: ({ organizationName }) => organizationName,
    }),
  },
});
