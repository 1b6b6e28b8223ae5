import { expect, test } from "vitest";
import { routes } from "../routes.ts";
import { openApiDocument } from "./document.ts";

const member = (of: unknown, name: string): unknown => Reflect.get(Object(of), name);

/** Returns the schema of every relationship in the document, keyed by its place. */
function relationshipSchemas(of: unknown, place = ""): [place: string, schema: unknown][] {
  if (typeof of !== "object" || of === null) return [];
  return Object.entries(of).flatMap(([name, value]) => {
    const here = `${place}/${name}`;
    const properties = name === "relationships" ? member(value, "properties") : undefined;
    return properties
      ? Object.entries(Object(properties)).map(([one, schema]): [string, unknown] => [
          `${here}/${one}`,
          schema,
        ])
      : relationshipSchemas(value, here);
  });
}

// System tests validate every response against these schemas. A schema without required members would accept an empty
// relationship.
test("no resource has a relationship that may be empty", () => {
  const resources = member(openApiDocument(routes), "components");
  const schemas = relationshipSchemas(member(resources, "schemas"));
  expect(schemas.length).toBeGreaterThan(50);
  const mayBeEmpty = schemas.filter(([, schema]) => {
    const required = member(schema, "required");
    return !Array.isArray(required) || required.length === 0;
  });
  expect(mayBeEmpty.map(([place]) => place)).toEqual([]);
});
