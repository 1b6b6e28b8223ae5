import { isSchema, type JsonSchema } from "../jsonapi/shape.ts";

/** What the OpenAPI document of a JSON:API service describes, as names that do not depend on its structure. */
export interface Names {
  /**
   * Operations (`GET /teams/{}`), their query parameters (`GET /teams/{} ?include`) and the values that `include`
   * accepts (`GET /teams/{} ?include=users`).
   */
  readonly operations: ReadonlySet<string>;
  /** Attributes, relationships and links of resources, such as `teams attributes.permissions.can-destroy`. */
  readonly members: ReadonlySet<string>;
}

const methods = ["get", "post", "put", "patch", "delete"];
const sections = ["attributes", "relationships", "links"] as const;

/** Reads the names of any OpenAPI 3 document. */
export function namesOf(document: JsonSchema): Names {
  const operations = new Set<string>();
  const paths = isSchema(document.paths) ? document.paths : {};
  for (const [path, item] of Object.entries(paths)) {
    if (!isSchema(item)) continue;
    for (const method of methods) {
      const operation = item[method];
      if (isSchema(operation)) addOperation(operations, document, method, path, operation);
    }
  }
  const members = new Set<string>();
  addMembers(members, document, document, []);
  return { operations, members };
}

function addOperation(
  operations: Set<string>,
  document: JsonSchema,
  method: string,
  path: string,
  { parameters }: JsonSchema,
): void {
  const name = `${method.toUpperCase()} ${path.replace(/^\/api\/v2/, "").replaceAll(/\{\w+\}/g, "{}")}`;
  operations.add(name);
  for (const each of Array.isArray(parameters) ? parameters : []) {
    const parameter = resolved(document, each);
    if (parameter.in !== "query") continue;
    for (const one of parameterNames(document, parameter)) operations.add(`${name} ?${one}`);
    for (const value of parameter.name === "include" ? enumIn(document, parameter.schema) : []) {
      operations.add(`${name} ?include=${value}`);
    }
  }
}

/** Returns the names of a parameter. A parameter of the style `deepObject` has one name for each property. */
function parameterNames(document: JsonSchema, { name, schema }: JsonSchema): string[] {
  const { properties } = resolved(document, schema);
  return isSchema(properties)
    ? Object.keys(properties).map((property) => `${String(name)}[${property}]`)
    : [String(name)];
}

function enumIn(document: JsonSchema, schema: unknown): string[] {
  const { enum: values, items } = resolved(document, schema);
  return [
    ...(Array.isArray(values) ? values.map(String) : []),
    ...(items === undefined ? [] : enumIn(document, items)),
  ];
}

/** Returns `schema` or, if it is a reference, the schema in the document to which it refers. */
function resolved(document: JsonSchema, schema: unknown): JsonSchema {
  if (!isSchema(schema)) return {};
  if (typeof schema.$ref !== "string") return schema;
  let target: unknown = document;
  for (const key of schema.$ref.split("/").slice(1)) target = isSchema(target) ? target[key] : {};
  return resolved(document, target);
}

/** Adds the members of each resource below `value`. A resource is a schema with a `type` and attributes. */
function addMembers(
  members: Set<string>,
  document: JsonSchema,
  value: unknown,
  above: readonly string[],
): void {
  if (Array.isArray(value)) {
    for (const item of value) addMembers(members, document, item, above);
  }
  if (!isSchema(value)) return;
  const properties = isSchema(value.properties) ? value.properties : {};
  for (const type of typesOf(document, properties.type)) {
    for (const section of sections) {
      addNested(members, document, `${type} ${section}`, properties[section]);
    }
  }
  for (const item of Object.values(value)) addMembers(members, document, item, above);
}

function typesOf(document: JsonSchema, schema: unknown): string[] {
  const { const: one } = resolved(document, schema);
  return typeof one === "string" ? [one] : enumIn(document, schema);
}

/** Adds the properties of an object and, for attributes, the properties of nested objects. */
function addNested(
  members: Set<string>,
  document: JsonSchema,
  path: string,
  schema: unknown,
): void {
  const { properties, anyOf, oneOf, allOf } = resolved(document, schema);
  for (const alternatives of [anyOf, oneOf, allOf]) {
    for (const one of Array.isArray(alternatives) ? alternatives : []) {
      addNested(members, document, path, one);
    }
  }
  if (!isSchema(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    const member = `${path}.${name}`;
    members.add(member);
    if (path.includes(" attributes")) addNested(members, document, member, property);
  }
}
