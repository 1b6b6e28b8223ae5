import type {
  CreateReservedTagKeyRequestSchema,
  ReservedTagKey,
} from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { attributesOf, type FieldsOf, type Noun } from "../jsonapi/noun.ts";
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

export const reservedTagKeyResource = resource<ReservedTagKey, RequestContext>({
  type: "reserved-tag-keys",
  id: ({ id }) => id,
  attributes: {
    ...attributesOf(reservedTagKeyNoun),
    // These two names have underscores, because clients expect them in this form.
    created_at: [time, ({ createdAt }) => timestamp(createdAt)],
    updated_at: [time, ({ updatedAt }) => timestamp(updatedAt)],
  },
});
