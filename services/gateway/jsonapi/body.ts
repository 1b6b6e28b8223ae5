import { z } from "zod";
import { describedAs, jsonSchemaOf } from "./shape.ts";

/** The maximum number of items of a list, unless its declaration sets another maximum. */
const MAX_ITEMS = 1000;
/** The maximum number of ids in a list. */
export const MAX_IDS = 5000;
/** The maximum number of members of a map. */
const MAX_MEMBERS = 100;

/** Declares a list of at most `max` items. A longer list is invalid, and its items are then not checked. */
export const listOf = <Schema extends z.ZodType>(item: Schema, max = MAX_ITEMS) =>
  describedAs(z.array(z.unknown()).max(max).pipe(z.array(item)), (_, io) =>
    jsonSchemaOf(z.array(item).max(max), io),
  );

/**
 * Declares a map whose keys the client chooses. A map with too many members is invalid, and its members are then not
 * checked.
 */
export const mapOf = <Schema extends z.ZodType>(member: Schema) =>
  describedAs(
    z
      .record(z.string(), z.unknown())
      .refine((map) => Object.keys(map).length <= MAX_MEMBERS, {
        message: `may have at most ${MAX_MEMBERS} members`,
        abort: true,
      })
      .pipe(z.record(z.string(), member)),
    (_, io) => ({
      ...jsonSchemaOf(z.record(z.string(), member), io),
      maxProperties: MAX_MEMBERS,
    }),
  );

/** Declares an optional attribute; null means the same as absent. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/**
 * Declares a member that is an object. If the member is absent, it is treated as an empty object, so that errors name
 * its required members.
 */
export const section = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => value ?? {}, schema);

/** Declares the `type` member of a document where the specification demands it. */
export const typeOf = <Type extends string>(type: Type) => z.literal(type);

/**
 * Declares the `type` member of all other documents, which is not checked: the Python client `terrasnek` sends the type
 * of another noun, or none.
 */
export const uncheckedTypeOf = (type: string) =>
  describedAs(z.unknown().optional(), () => ({ type: "string", default: type }));

/**
 * Declares an optional to-one linkage and returns its id. Returns undefined if the linkage, its `data` or its id is
 * absent or null.
 */
export const linkage = (type: string) =>
  optional(
    z.object({ data: optional(z.object({ id: optional(z.string()), type: z.literal(type) })) }),
  ).transform((relationship) => relationship?.data?.id);

/** Declares a required to-one linkage that must have a type and an id. */
export const requiredLinkage = (type: string) =>
  z
    .object({ data: section(z.object({ type: z.literal(type), id: z.string() })) })
    .transform(({ data }) => data.id);

/**
 * Declares a to-one linkage that clients can remove. Returns its id, "" if `data` is null, and undefined if the body
 * does not contain the linkage.
 */
export const nullableLinkage = (type: string) =>
  z
    .object({ data: z.object({ type: z.literal(type), id: z.string() }).nullish() })
    .nullish()
    .transform((relationship) => {
      if (!relationship || relationship.data === undefined) return undefined;
      return relationship.data?.id ?? "";
    });

/** Declares a to-many linkage. Returns its ids; undefined if the body does not contain it. */
export const linkages = (type: string) =>
  z
    .object({
      data: listOf(z.object({ type: z.literal(type), id: z.string() }), MAX_IDS).nullish(),
    })
    .nullish()
    .transform((relationship) => relationship?.data?.map(({ id }) => id));

/** Declares a JSON:API document with this `data`. */
export const documentBody = <Schema extends z.ZodType>(data: Schema) =>
  z.object({ data: section(data) });

/** Declares a document whose `data` is a list. */
export const listBody = <Schema extends z.ZodType>(item: Schema, max?: number) =>
  z.object({ data: listOf(item, max) });
