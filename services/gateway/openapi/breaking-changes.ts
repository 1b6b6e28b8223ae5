import type { JsonSchema } from "../jsonapi/shape.ts";
import { isSchema } from "../jsonapi/shape.ts";
import type { OpenApiDocument, Operation } from "./document.ts";

/** The properties of a document on which clients can rely. Each is a line such as `GET /x 200 data.id: string`. */
interface Facts {
  /** Members and types of requests. A client breaks if one disappears. */
  readonly accepted: Set<string>;
  /** Required members and parameters of requests. A client breaks if one is added. */
  readonly required: Set<string>;
  /** Operations, and the members that are always present in responses. A client breaks if one disappears. */
  readonly shown: Set<string>;
  /** Types of members of responses. A client breaks if an existing member gets another type. */
  readonly types: Map<string, Set<string>>;
}

/** Returns the changes between two documents that break clients, as one line each. */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const old = factsOf(before);
  const now = factsOf(after);
  return [
    ...[...old.accepted].filter((fact) => !now.accepted.has(fact)).map((fact) => `gone: ${fact}`),
    ...[...old.shown].filter((fact) => !now.shown.has(fact)).map((fact) => `gone: ${fact}`),
    ...[...now.required]
      .filter((fact) => !old.required.has(fact) && old.shown.has(operationOf(fact)))
      .map((fact) => `now required: ${fact}`),
    ...[...now.types].flatMap(([member, types]) => {
      const known = old.types.get(member);
      const added = known ? [...types].filter((type) => !known.has(type)) : [];
      return added.map((type) => `another type: ${member}: ${type}`);
    }),
  ].toSorted();
}

const operationOf = (fact: string): string => fact.split(" ").slice(0, 2).join(" ");

function factsOf(document: OpenApiDocument): Facts {
  const facts: Facts = {
    accepted: new Set(),
    required: new Set(),
    shown: new Set(),
    types: new Map(),
  };
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`;
      facts.shown.add(name);
      addRequest(facts, document, name, operation);
      for (const [status, response] of Object.entries(operation.responses)) {
        if (!status.startsWith("2")) continue;
        facts.shown.add(`${name} ${status}`);
        for (const schema of schemasIn(response)) {
          walk(document, schema, `${name} ${status} `, [], (member, types, required) => {
            if (required) facts.shown.add(member);
            const known = facts.types.get(member) ?? new Set();
            facts.types.set(member, known.union(new Set(types)));
          });
        }
      }
    }
  }
  return facts;
}

function addRequest(
  facts: Facts,
  document: OpenApiDocument,
  name: string,
  { parameters, requestBody }: Operation,
): void {
  const add = (member: string, types: readonly string[], required: boolean) => {
    for (const type of types) facts.accepted.add(`${member}: ${type}`);
    if (required) facts.required.add(member);
  };
  for (const each of Array.isArray(parameters) ? parameters : []) {
    const parameter = parameterAt(document, each);
    const member = `${name} ?${parameter.name}`;
    add(member, typesOf(parameter.schema), parameter.required === true);
  }
  for (const schema of isSchema(requestBody) ? schemasIn(requestBody) : []) {
    walk(document, schema, `${name} body `, [], add);
  }
}

/** Returns `parameter` or, if it is a reference, the shared parameter to which it refers. */
function parameterAt({ components }: OpenApiDocument, parameter: JsonSchema): JsonSchema {
  if (typeof parameter.$ref !== "string") return parameter;
  return components.parameters[parameter.$ref.split("/").at(-1) ?? ""] ?? {};
}

const schemasIn = ({ content }: JsonSchema): JsonSchema[] =>
  isSchema(content)
    ? Object.values(content).flatMap((media) =>
        isSchema(media) && isSchema(media.schema) ? [media.schema] : [],
      )
    : [];

/**
 * Calls `visit` for every member of an object and of the objects in it, with the member's path, its types, and whether
 * it is required.
 */
function walk(
  document: OpenApiDocument,
  schema: JsonSchema,
  path: string,
  open: readonly string[],
  visit: (member: string, types: readonly string[], required: boolean) => void,
): void {
  const { $ref, anyOf, items, properties, required } = schema;
  if (typeof $ref === "string") {
    const name = $ref.replace("#/components/schemas/", "");
    const target = document.components.schemas[name];
    // The path of an alternative contains the name of its schema, so that members of different alternatives have
    // different paths.
    if (target && !open.includes(name)) walk(document, target, path, [...open, name], visit);
    return;
  }
  for (const one of Array.isArray(anyOf) ? anyOf : []) {
    const alternative = isSchema(one) && typeof one.$ref === "string" ? one.$ref : "";
    walk(document, one, `${path}${alternative.replace(/.*\//, "")}`, open, visit);
  }
  if (isSchema(items)) walk(document, items, `${path}[]`, open, visit);
  if (!isSchema(properties)) return;
  for (const [name, member] of Object.entries(properties)) {
    if (!isSchema(member)) continue;
    const at = `${path}.${name}`;
    visit(at, typesOf(member), Array.isArray(required) && required.includes(name));
    walk(document, member, at, open, visit);
  }
}

/** Returns the types of a schema. For an enumeration in a request, each allowed value counts as a separate type. */
function typesOf(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const { type, anyOf, $ref } = schema;
  if (typeof $ref === "string") return [$ref];
  if (Array.isArray(anyOf)) return anyOf.flatMap(typesOf);
  if (Array.isArray(type)) return type.map(String);
  return [typeof type === "string" ? type : "const" in schema ? String(schema.const) : "any"];
}
