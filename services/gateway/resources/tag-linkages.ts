import { z } from "zod";
import { listOf, optional } from "../jsonapi/body.ts";

/** One binding in a body; an absent value is an empty one, which makes it a flat tag. */
export const tagBindingItem = z
  .object({
    type: z.literal("tag-bindings"),
    attributes: z.object({ key: z.string(), value: optional(z.string()) }),
  })
  .transform(({ attributes: { key, value = "" } }) => ({ key, value }));

export type TagBindingFields = z.infer<typeof tagBindingItem>;

/** `relationships.tag-bindings` of a new workspace or project: linkages without ids, with attributes. */
export const tagBindingLinkages = optional(
  z.object({ data: optional(listOf(tagBindingItem)) }),
).transform((relationship) => relationship?.data);

/** `relationships.tags` of a new workspace: flat tags, by their names only. */
export const tagNameLinkages = optional(
  z.object({
    data: optional(
      listOf(
        z
          .object({ type: z.literal("tags"), attributes: z.object({ name: z.string() }) })
          .transform(({ attributes: { name } }) => name),
      ),
    ),
  }),
).transform((relationship) => relationship?.data);
