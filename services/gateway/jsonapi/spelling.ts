import { z } from "zod";

/** An attribute with two names: the product's and the alternative one. */
export type Spellings = Readonly<Record<string, string>>;

/**
 * Reads an attributes object under the product's names, in either spelling. If an attribute has different values
 * under its two names, the problem is reported for the alternative name. Null counts as absent.
 */
export const bothSpellings = <Schema extends z.ZodType>(spellings: Spellings, schema: Schema) =>
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
