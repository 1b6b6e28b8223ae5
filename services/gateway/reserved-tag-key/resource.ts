import type {
  CreateReservedTagKeyRequestSchema,
  ReservedTagKey,
} from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { attributesOf, type FieldsOf, type Noun, shapeOf } from "../jsonapi/noun.ts";
import { resource } from "../jsonapi/resource.ts";
import { time } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

/** The attributes that clients send for a reserved tag key. */
export const reservedTagKeyNoun: Noun<
  FieldsOf<typeof CreateReservedTagKeyRequestSchema>,
  ReservedTagKey,
  RequestContext
> = {
  type: "reserved-tag-keys",
  attributes: {
    key: { field: "key", in: z.string() },
    "disable-overrides": { field: "disableOverrides", in: z.boolean() },
  },
};

const sentAttributes = attributesOf(reservedTagKeyNoun);

export const reservedTagKeyResource = resource<ReservedTagKey, RequestContext>({
  type: "reserved-tag-keys",
  id: ({ id }) => id,
  shape: { ...shapeOf(reservedTagKeyNoun), created_at: time, updated_at: time },
  attributes: (reserved, context) => ({
    ...sentAttributes(reserved, context),
    // These two names have underscores, because clients expect them in this form.
    created_at: timestamp(reserved.createdAt),
    updated_at: timestamp(reserved.updatedAt),
  }),
});
