import { z } from "zod";
import { listOf, optional } from "../jsonapi/body.ts";

/** One tag binding in a body. An absent value is treated as empty, which makes the binding a flat tag. */
export const tagBindingItem = z
  .object({
    type: z.literal("tag-bindings"),
    attributes: z.object({ key: z.string(), value: optional(z.string()) }),
  })
  .transform(({ attributes: { key, value = "" } }) => ({ key, value }));

export type TagBindingFields = z.infer<typeof tagBindingItem>;

/** The linkages `relationships.tag-bindings` of a workspace or project. They have attributes instead of ids. */
export const tagBindingLinkages = optional(
  z.object({ data: optional(listOf(tagBindingItem)) }),
).transform((relationship) => relationship?.data);

/** The linkages `relationships.tags` of a new workspace. They identify flat tags by their names instead of ids. */
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
