import { readFileSync } from "node:fs";
import path from "node:path";
import { edition, kebabCase } from "@statehouse/runtime";
import { WIRE_VERSION } from "../discovery/routes.ts";
import { credentialTypes } from "../http/authentication.ts";
import { editionsOf } from "../http/editions.ts";
import type { ParameterDescription } from "../http/query.ts";
import type { Route } from "../http/route.ts";
import { type JsonSchema, jsonSchemaOf } from "../jsonapi/shape.ts";
import { errorResponse, notModified, sharedResponses } from "./errors.ts";
import { exampleOfBody } from "./examples.ts";
import { createParameters } from "./parameters.ts";
import { createComponents } from "./resources.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const product: { version: string } = JSON.parse(
  readFileSync(path.join(root, "package.json"), "utf8"),
);

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends JsonSchema {
  readonly openapi: "3.1.0";
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly security: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: JsonSchema;
  };
}

export interface Operation extends JsonSchema {
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

/** Describes the routes as an OpenAPI document. It is the same for both editions. */
export function openApiDocument(routes: readonly Route[]): OpenApiDocument {
  const components = createComponents();
  const parameters = createParameters();
  for (const route of routes) parameters.add(parametersOf(route));
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    const operations = paths[path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(
      route,
      components.contentOf,
      parameters.referTo,
    );
    paths[path] = operations;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Statehouse",
      version: product.version,
      description: `Workspaces, state and team access for infrastructure-as-code. Requests and responses are JSON:API documents. Clients read the version of the wire protocol from the response to /api/v2/ping: \`TFP-API-Version: ${WIRE_VERSION}\`.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: components.schemas(),
      parameters: parameters.shared(),
      responses: sharedResponses,
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A token of a user, a team, an organization or a run.",
        },
      },
    },
  };
}

function operationOf(
  route: Route,
  contentOf: (route: Route) => JsonSchema | undefined,
  referTo: (parameter: JsonSchema) => JsonSchema,
): Operation {
  const { path, credentials, edition: feature } = route;
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    description: `\`\`\`sh\n${curlOf(route)}\n\`\`\``,
    tags: [tagOf(path)],
    ...(credentials === "none"
      ? { security: [] }
      : { "x-credentials": credentials ?? credentialTypes }),
    ...(feature ? editionsOf(feature) : {}),
    parameters: parametersOf(route).map(referTo),
    ...(route.body
      ? {
          requestBody: {
            // An absent body is treated as `{}`, so a body is required only if the schema refuses `{}`.
            required: isRequired(route.body),
            content: {
              "application/vnd.api+json": {
                schema: jsonSchemaOf(route.body, "input"),
                ...exampleOfBody(route),
              },
            },
          },
        }
      : {}),
    responses: {
      [route.success]: successOf(route, contentOf(route)),
      ...(route.method === "GET" && route.success === 200 ? { 304: notModified } : {}),
      ...Object.fromEntries(failuresOf(route).map((status) => [status, errorResponse(status)])),
    },
  };
}

/** Returns the curl command that calls the operation. */
function curlOf(route: Route): string {
  const { method, path, credentials, body } = route;
  const parts = [
    "curl",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(credentials === "none" ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body ? [`-H "Content-Type: application/vnd.api+json" --data ${dataOf(route)}`] : []),
    `"$STATEHOUSE${path.replaceAll(/:(\w+)/g, "{$1}")}"`,
  ];
  return parts.join(" ");
}

/** Returns the example of the route's body as a quoted shell argument; if there is no example, a file name. */
function dataOf(route: Route): string {
  const { example } = exampleOfBody(route);
  if (example === undefined) return "@body.json";
  return `'${JSON.stringify(example).replaceAll("'", "'\\''")}'`;
}

const isRequired = (body: NonNullable<Route["body"]>): boolean => !body.safeParse({}).success;

/** Returns the operation's name, which is built from its method and path, such as `getWorkspacesByWorkspaceId`. */
function operationIdOf({ method, path }: Route): string {
  const words = path
    .replace(/^\/api\/v2\//, "/")
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (segment.startsWith(":") ? `by-${kebabCase(segment.slice(1))}` : segment))
    .flatMap((segment) => segment.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase() + words.join("");
}

/**
 * Returns the resource type that an operation concerns: the last segment of the path before an action or a parameter.
 */
function tagOf(path: string): string {
  const segments = path
    .replace(/^\/api\/v2\//, "")
    .replace(/\/actions\/.*$/, "")
    .split("/")
    .filter((segment) => segment !== "" && !segment.startsWith(":"));
  return segments.find((_, at) => at === segments.length - 1) ?? path;
}

const parametersOf = (route: Route): JsonSchema[] => [
  ...pathParameters(route.path),
  ...queryParameters(route),
];

const pathParameters = (path: string): JsonSchema[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: describePathParameter(name),
    schema: { type: "string", minLength: 1 },
  }));

/** Describes `workspaceId` as "The id of the workspace." and `organizationName` as "The name of the organization." */
function describePathParameter(name: string): string {
  const words = kebabCase(name).split("-");
  const what = words.at(-1) === "id" ? "id" : "name";
  const noun = words.length > 1 ? words.slice(0, -1).join(" ") : "workspace";
  return `The ${what} of the ${noun}.`;
}

const queryParameters = ({ query, includes }: Route): JsonSchema[] => [
  ...Object.values(query).flatMap(({ parameters }) => parameters.map(parameterOf)),
  ...(includes.length > 0 ? [includeParameter(includes)] : []),
];

const parameterOf = ({
  name,
  description,
  schema,
  required,
}: ParameterDescription): JsonSchema => ({
  name,
  in: "query",
  description,
  ...(required ? { required } : {}),
  schema: jsonSchemaOf(schema, "input"),
});

const includeParameter = (includes: readonly string[]): JsonSchema => ({
  name: "include",
  in: "query",
  description: "The related resources that the document includes, separated by commas.",
  style: "form",
  explode: false,
  schema: { type: "array", items: { type: "string", enum: includes } },
});

/** Returns the statuses of the failures that a route can return: its own and those that it shares with other routes. */
const failuresOf = ({ failures, body, credentials }: Route): readonly number[] =>
  [
    ...new Set<number>([
      ...failures,
      ...(body ? [400, 408, 413, 422] : []),
      ...(credentials === "none" ? [] : [401, 429, 503, 504]),
      500,
    ]),
  ].toSorted((a, b) => a - b);

function successOf(route: Route, content: JsonSchema | undefined): JsonSchema {
  const headers = [
    ...(route.method === "GET" && route.success === 200 ? ["ETag"] : []),
    ...new Set(
      (["self-hosted", "hosted"] as const).flatMap((name) =>
        Object.keys(route.headers(edition(name))),
      ),
    ),
  ].filter((name) => !["Content-Security-Policy", "Cache-Control"].includes(name));
  return {
    description: route.summary,
    ...(headers.length > 0
      ? {
          headers: Object.fromEntries(
            headers.map((name) => [name, { schema: { type: "string" } }]),
          ),
        }
      : {}),
    ...(content ? { content: { [mediaType(route)]: { schema: content } } } : {}),
  };
}

const mediaType = ({ contentType = "" }: Route): string => contentType.split(";")[0] ?? "";
