import type { Route } from "@statehouse/gateway/http/route";
import { openApiDocument } from "@statehouse/gateway/openapi/document";
import { routes } from "@statehouse/gateway/routes";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Answer } from "../stack/http.ts";

const document = openApiDocument(routes);
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(document, "openapi");

const compiled = new Map<string, ValidateFunction>();
const pointer = (...segments: readonly string[]): string =>
  segments
    .map((segment) => segment.replaceAll("~", "~0").replaceAll("/", "~1"))
    .map((segment) => `/${encodeURIComponent(segment)}`)
    .join("");

function validatorAt(position: string): ValidateFunction {
  const known = compiled.get(position);
  if (known) return known;
  const validate = ajv.compile({ $ref: `openapi#${position}` });
  compiled.set(position, validate);
  return validate;
}

/** Headers that every response can have, and that are not part of the description of an operation. */
const general: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-security-policy",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "x-content-type-options",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
]);

/**
 * Returns the headers that the document does not describe, and the required headers that the response does not have.
 */
function undescribedHeaders(described: unknown, headers: Headers): string[] {
  const names = Object.entries(Object(described)).map(([name, header]) => ({
    name: name.toLowerCase(),
    required: Reflect.get(Object(header), "required") === true,
  }));
  return [
    ...[...headers.keys()]
      .filter((name) => !general.has(name) && !names.some((known) => known.name === name))
      .map((name) => `the OpenAPI document has no header ${name}`),
    ...names
      .filter(({ name, required }) => required && !headers.has(name))
      .map(({ name }) => `the response has no header ${name}`),
  ];
}

/**
 * Returns how a response differs from the OpenAPI document: in its status, headers or media type, or in members of its
 * body.
 */
export function undescribed(
  route: Route,
  { status, headers, body }: Pick<Answer, "status" | "headers" | "body">,
): string[] {
  const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
  const method = route.method.toLowerCase();
  const described = document.paths[path]?.[method]?.responses[status];
  if (!described) return ["the OpenAPI document has no such status"];
  const { $ref } = described;
  const position =
    typeof $ref === "string"
      ? $ref.slice(1)
      : pointer("paths", path, method, "responses", String(status));
  const name = position.split("/").at(-1) ?? "";
  const response = typeof $ref === "string" ? document.components.responses[name] : described;
  const types = Object.keys(response?.content ?? {});
  const type = headers.get("content-type")?.split(";")[0];
  const problems = undescribedHeaders(response?.headers, headers);
  if (types.length === 0) {
    return body === "" ? problems : [...problems, "the OpenAPI document has no body"];
  }
  if (type === undefined || !types.includes(type)) {
    return [...problems, `the media type is ${type}`];
  }
  const validate = validatorAt(`${position}${pointer("content", type, "schema")}`);
  validate(body);
  return [
    ...problems,
    ...(validate.errors ?? [])
      .slice(0, 10)
      .map(
        ({ instancePath, message, params }) =>
          `${instancePath} ${message} ${JSON.stringify(params)}`,
      ),
  ];
}

/** Returns the names of the schemas that describe the resource. */
export const schemasOf = (resource: { type: string }): string[] =>
  Object.keys(document.components.schemas).filter(
    (name) =>
      name.split(".")[0] === resource.type &&
      validatorAt(pointer("components", "schemas", name))(resource),
  );
