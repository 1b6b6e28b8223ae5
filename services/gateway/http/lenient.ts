import { z } from "zod";

/**
 * Returns the part of `value` that `schema` accepts, without invalid members, so that a service can validate that part.
 * An invalid required string becomes empty, and items of a list keep their positions.
 */
export function parseLeniently(schema: z.core.$ZodType, value: unknown): unknown {
  const { success, data } = z.safeParse(schema, value);
  if (success) return data;
  if (schema instanceof z.ZodObject) {
    const container: object = isObject(value) ? value : {};
    const members = Object.entries<z.core.$ZodType>(schema.shape).map(([name, member]) => [
      name,
      parseLeniently(member, Reflect.get(container, name)),
    ]);
    return Object.fromEntries(members);
  }
  if (schema instanceof z.ZodArray) {
    // If items can be of any type, only the length of the list can be invalid: the valid part is an empty list.
    if (!Array.isArray(value) || schema.element instanceof z.ZodUnknown) return [];
    return value.map((item) => parseLeniently(schema.element, item));
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return isObject(value) ? parseLeniently(schema.unwrap(), value) : undefined;
  }
  if (schema instanceof z.ZodPipe) {
    return parseLeniently(schema.out, parseLeniently(schema.in, value));
  }
  // A transform that reports a problem has no result, so its input is returned.
  if (schema instanceof z.ZodTransform) return value;
  return schema instanceof z.ZodString ? "" : undefined;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
