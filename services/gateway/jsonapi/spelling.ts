import { z } from "zod";
import { describedAs, isSchema, type JsonSchema } from "./shape.ts";

/** Maps the usual name of an attribute to the attribute's alternative name. */
export type Spellings = Readonly<Record<string, string>>;

/**
 * Reads an object whose attributes can have their usual or their alternative names, and returns it with the usual
 * names. If an attribute has different values under its two names, the problem is reported for the alternative name.
 * Null is treated as absent.
 */
export const bothSpellings = <Schema extends z.ZodType>(spellings: Spellings, schema: Schema) =>
  describedAs(readingBoth(spellings, schema), (described) =>
    withAlternatives(spellings, described),
  );

const readingBoth = <Schema extends z.ZodType>(spellings: Spellings, schema: Schema) =>
  z.preprocess((attributes: unknown, context) => {
    if (attributes === null || typeof attributes !== "object") return attributes;
    const read: Record<string, unknown> = { ...attributes };
    for (const [ours, other] of Object.entries(spellings)) {
      const value = read[other];
      delete read[other];
      if (value === undefined || value === null) continue;
      const known = read[ours];
      if (known === undefined || known === null) read[ours] = value;
      else if (known !== value) {
        context.addIssue({
          code: "custom",
          path: [other],
          message: `must be the same as ${ours}`,
        });
      }
    }
    return read;
  }, schema);

/** Adds the alternative names to the JSON Schema of an object. */
function withAlternatives(spellings: Spellings, described: JsonSchema): JsonSchema {
  const { properties } = described;
  if (!isSchema(properties)) return described;
  const alternatives = Object.entries(spellings).flatMap(([ours, other]) => {
    const member = properties[ours];
    return isSchema(member)
      ? [[other, { ...member, description: `An alternative name of \`${ours}\`.` }]]
      : [];
  });
  return { ...described, properties: { ...properties, ...Object.fromEntries(alternatives) } };
}
