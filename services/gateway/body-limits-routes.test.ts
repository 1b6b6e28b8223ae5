import { expect, test } from "vitest";
import { z } from "zod";
import { routes } from "./routes.ts";

/** Returns the positions of all lists and maps in a schema that accept any number of items. */
function unlimited(schema: z.core.$ZodType, position: string, isLimited = false): string[] {
  if (schema instanceof z.ZodArray) {
    const own = isLimited || limits(schema) ? [] : [position];
    return [...own, ...unlimited(schema.element, `${position}[]`)];
  }
  if (schema instanceof z.ZodRecord) {
    const own = isLimited || limits(schema) ? [] : [position];
    return [...own, ...unlimited(schema.valueType, `${position}{}`)];
  }
  if (schema instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, member]) =>
      unlimited(member, `${position}.${name}`),
    );
  }
  if (schema instanceof z.ZodPipe) {
    const { in: first, out } = schema;
    return [
      ...unlimited(first, position, isLimited),
      ...unlimited(out, position, isLimited || limits(first)),
    ];
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unlimited(schema.unwrap(), position, isLimited);
  }
  if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option) => unlimited(option, position, isLimited));
  }
  return [];
}

/** Returns whether the schema refuses too many items before it checks them. */
function limits(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodArray) {
    return schema.element instanceof z.ZodUnknown && !accepts(schema, Array(10_000).fill(0));
  }
  if (schema instanceof z.ZodRecord) {
    const many = Array.from({ length: 1000 }, (_, name) => [`m${name}`, 0]);
    return schema.valueType instanceof z.ZodUnknown && !accepts(schema, Object.fromEntries(many));
  }
  return false;
}

const accepts = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success;

const withBody = routes.flatMap(({ method, path, body }) =>
  body ? [[`${method} ${path}`, body] as const] : [],
);

test.each(withBody)("every list and map in the body of %s has a maximum", (_, body) => {
  expect(unlimited(body, "")).toEqual([]);
});
