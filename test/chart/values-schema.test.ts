import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { valuesSchema } from "./values-schema.ts";

interface Schema {
  $ref?: string;
  properties?: Readonly<Record<string, Schema>>;
}

/** Values without a default: fields of Kubernetes objects that values.yaml does not contain. */
const withoutDefault = [
  "pod.resources.claims",
  "httpRoute.timeouts.backendRequest",
  "httpRoute.objectTimeouts.backendRequest",
];

test("the schema accepts no value that values.yaml does not have", () => {
  const file = new URL("../../helm/statehouse/values.yaml", import.meta.url);
  const { definitions, ...root } = valuesSchema();
  const named = definitions as Readonly<Record<string, Schema>>;
  const missing = (schema: Schema, value: unknown, path: string): string[] => {
    if (schema.$ref) return missing(named[schema.$ref.split("/").at(-1) ?? ""] ?? {}, value, path);
    // An object that is empty in values.yaml need not list the members that the schema allows in it.
    if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return [];
    return Object.entries(schema.properties ?? {}).flatMap(([name, of]) =>
      /^settings(From)?$/.test(name)
        ? []
        : name in value
          ? missing(of, Reflect.get(value, name), `${path}${name}.`)
          : [`${path}${name}`],
    );
  };
  expect(missing(root, parse(readFileSync(file, "utf8")), "")).toEqual(withoutDefault);
});
