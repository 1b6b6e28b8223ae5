import { z } from "zod";

/** An optional attribute; null means the same as absent. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A member that is an object; if absent it counts as empty, so that errors name its required members. */
export const section = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => value ?? {}, schema);

/** The `type` of a body's document. */
export const typeOf = <Type extends string>(type: Type) => z.literal(type);

/** A to-one linkage whose type is ignored; absent, null and a null `data` mean no linkage. */
export const linkage = (type: string) =>
  optional(
    z.object({ data: optional(z.object({ id: optional(z.string()), type: z.literal(type) })) }),
  ).transform((relationship) => relationship?.data?.id);

/** A required to-one linkage, with type and id. */
export const requiredLinkage = (type: string) =>
  z
    .object({ data: section(z.object({ type: z.literal(type), id: z.string() })) })
    .transform(({ data }) => data.id);

/** A to-one linkage that can be removed: returns its id, "" for a null `data`, undefined if the body has none. */
export const nullableLinkage = (type: string) =>
  z
    .object({ data: z.object({ type: z.literal(type), id: z.string() }).nullish() })
    .nullish()
    .transform((relationship) => {
      if (!relationship || relationship.data === undefined) return undefined;
      return relationship.data?.id ?? "";
    });

/** The ids of a to-many linkage; undefined if the body has none. */
export const linkages = (type: string) =>
  z
    .object({ data: z.array(z.object({ type: z.literal(type), id: z.string() })).nullish() })
    .nullish()
    .transform((relationship) => relationship?.data?.map(({ id }) => id));

/** A JSON:API document around `data`. */
export const documentBody = <Schema extends z.ZodType>(data: Schema) =>
  z.object({ data: section(data) });

/** A document whose `data` is a list. */
export const listBody = <Schema extends z.ZodType>(item: Schema) =>
  z.object({ data: z.array(item) });
