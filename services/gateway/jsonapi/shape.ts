import { z } from "zod";

/** A time as documents show it: UTC, with milliseconds and `Z`. */
export const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: "date-time" });

export const optionalTime = time.nullable();
export const optionalText = z.string().nullable();

/** Any JSON value. Numbers keep all their digits. */
export const anyValue = z.unknown();

/**
 * Marks a member that is still supported but will be removed; clients should use `instead`. The compatibility promise
 * to clients states how long such a member remains.
 */
export const deprecated = <Schema extends z.ZodType>(schema: Schema, instead: string): Schema =>
  schema.meta({ deprecated: true, description: `Use ${instead}.` });

type Describe = (converted: JsonSchema, io: Io) => JsonSchema;
const described = new WeakMap<z.core.$ZodType, Describe>();

/**
 * Returns `schema` with the JSON Schema that `describe` returns. Used for schemas that check or convert values with
 * code, which JSON Schema cannot express.
 */
export function describedAs<Schema extends z.ZodType>(schema: Schema, describe: Describe): Schema {
  described.set(schema, describe);
  return schema;
}

export type JsonSchema = { readonly [keyword: string]: unknown };
type Io = "input" | "output";

/**
 * Converts a schema to JSON Schema: `input` is what a request may contain, `output` what a document contains. Objects
 * in documents have only the members of the schema. Objects in requests may have other members, which are ignored.
 */
export function jsonSchemaOf(schema: z.core.$ZodType, io: Io): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const describe = described.get(zodSchema);
      if (describe) {
        const description = describe({ ...jsonSchema }, io);
        for (const keyword of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, keyword);
        Object.assign(jsonSchema, description);
      }
      // Tools recognize `deprecated` only on the schema that contains `anyOf`, not on a member of `anyOf`.
      const [value] = jsonSchema.anyOf ?? [];
      if (isSchema(value) && value.deprecated) {
        jsonSchema.deprecated = true;
        if (typeof value.description === "string") jsonSchema.description ??= value.description;
        delete value.deprecated;
        delete value.description;
      }
      // Zod adds the bounds of JavaScript's exact integers. They are removed, because they are not limits of the value.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return io === "input" ? withOptionalSections(converted) : converted;
}

/**
 * Makes a member optional if it is an object without required members, because `section` treats such a member as `{}` if
 * it is absent.
 */
function withOptionalSections(schema: JsonSchema): JsonSchema {
  const converted = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    Array.isArray(value)
      ? value.map((item) => (isSchema(item) ? withOptionalSections(item) : item))
      : isSchema(value)
        ? withOptionalSections(value)
        : value,
  ]);
  const result: Record<string, unknown> = Object.fromEntries(converted);
  const { properties, required } = result;
  if (result.type !== "object" || !isSchema(properties) || !Array.isArray(required)) return result;
  const needed = required.filter((name) => {
    const member = properties[name];
    return !isSchema(member) || member.type !== "object" || member.required !== undefined;
  });
  if (needed.length > 0) result.required = needed;
  else delete result.required;
  return result;
}

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
