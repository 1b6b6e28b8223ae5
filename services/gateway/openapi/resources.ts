import { z } from "zod";
import type { Content, Route } from "../http/route.ts";
import type { RelationshipDescription, ResourceDescription } from "../jsonapi/resource.ts";
import { type JsonSchema, jsonSchemaOf } from "../jsonapi/shape.ts";
import { examplesOfResource } from "./examples.ts";

const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
const text: JsonSchema = { type: "string" };
const optionalText: JsonSchema = { type: ["string", "null"] };
const count: JsonSchema = { type: "integer", minimum: 0 };
const optionalCount: JsonSchema = { type: ["integer", "null"], minimum: 1 };
const anyOf = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };
const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The schemas that do not depend on a resource. */
const fixed: Readonly<Record<string, JsonSchema>> = {
  "page-links": object({
    self: text,
    first: text,
    prev: optionalText,
    next: optionalText,
    last: text,
  }),
  "page-meta": object({
    pagination: object({
      "current-page": count,
      "page-size": count,
      "prev-page": optionalCount,
      "next-page": optionalCount,
      "total-pages": count,
      "total-count": count,
    }),
  }),
};

/** Creates the schemas of documents, and collects those of the resources that they contain. */
export function createComponents() {
  const resources = new Map<string, { of: ResourceDescription; schema: JsonSchema }>();

  const referTo = (of: ResourceDescription): JsonSchema => {
    const name = of.variant ? `${of.type}.${of.variant}` : of.type;
    const known = resources.get(name);
    if (known && known.of !== of) throw new Error(`two resources are called ${name}`);
    if (!known)
      resources.set(name, { of, schema: { ...resourceSchema(of), ...examplesOfResource(name) } });
    return reference(name);
  };

  const dataOf = ({ form, resources }: Extract<Content, { resources: unknown }>): JsonSchema => {
    const item = anyOf(resources.map(referTo));
    return form === "one" ? item : { type: "array", items: item };
  };

  return {
    /** Returns the schema of a route's successful response. */
    contentOf({ content, includes }: Route): JsonSchema | undefined {
      if (!content) return undefined;
      if (content.form === "text") return text;
      if (content.form === "json") return jsonSchemaOf(content.schema, "output");
      const included = includedBy(content.resources, includes);
      return object(
        {
          data: dataOf(content),
          ...(included.length > 0
            ? { included: { type: "array", items: anyOf(included.map(referTo)) } }
            : {}),
          ...(content.form === "page"
            ? { links: reference("page-links"), meta: reference("page-meta") }
            : {}),
        },
        ["included"],
      );
    },
    /** Returns the collected schemas, in the order of their names. */
    schemas: (): Readonly<Record<string, JsonSchema>> =>
      Object.fromEntries(
        [
          ...Object.entries(fixed),
          ...[...resources].map(([name, { schema }]) => [name, schema] as const),
        ].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
  };
}

/** Returns the resources that the includes can add to a document of `primary`. */
function includedBy(
  primary: readonly ResourceDescription[],
  includes: readonly string[],
): readonly ResourceDescription[] {
  const found = new Set<ResourceDescription>();
  for (const include of includes) {
    let level = primary;
    for (const name of include.split(".")) {
      level = level.flatMap(
        ({ relationships = {} }) =>
          relationships[name.replaceAll("_", "-")]?.description.resources() ?? [],
      );
    }
    if (level.length === 0) throw new Error(`nothing can be included as ${include}`);
    for (const resource of level) found.add(resource);
  }
  return [...found];
}

function resourceSchema(of: ResourceDescription): JsonSchema {
  const { type, attributes, relationships, links, linkNames = ["self"] } = of;
  const members = Object.entries(relationships ?? {});
  return object(
    {
      id: text,
      type: { const: type },
      attributes: jsonSchemaOf(
        z.object(
          Object.fromEntries(Object.entries(attributes).map(([name, [schema]]) => [name, schema])),
        ),
        "output",
      ),
      ...(members.length > 0
        ? {
            relationships: object(
              Object.fromEntries(
                members.map(([name, { description }]) => [name, relationshipSchema(description)]),
              ),
              members.filter(([, { description }]) => description.optional).map(([name]) => name),
            ),
          }
        : {}),
      ...(links
        ? { links: object(Object.fromEntries(linkNames.map((name) => [name, text]))) }
        : {}),
    },
    of.linksAreOptional ? ["links"] : [],
  );
}

function relationshipSchema(description: RelationshipDescription): JsonSchema {
  const { many, data, link, optional, nullable, editions = {} } = description;
  const types = [
    ...new Set([...description.types, ...description.resources().map(({ type }) => type)]),
  ];
  const linked = object({ type: { type: "string", enum: types }, id: text });
  const one = optional && !nullable ? linked : { anyOf: [linked, { type: "null" }] };
  const shown = many
    ? { type: "array", ...(types.length > 0 ? { items: linked } : { maxItems: 0 }) }
    : types.length > 0
      ? one
      : { type: "null" };
  const members = object(
    {
      ...(data === "never" ? {} : { data: shown }),
      ...(link ? { links: object({ related: text }) } : {}),
    },
    data === "included" ? ["data"] : [],
  );
  return { ...members, ...editions };
}
