import type { Route } from "@statehouse/gateway/http/route";
import { openApiDocument } from "@statehouse/gateway/openapi/document";
import { routes } from "@statehouse/gateway/routes/routes";
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

/** Returns what of a response the OpenAPI document does not describe: its status, media type, or members of its body. */
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
  if (types.length === 0) return body === "" ? [] : ["the OpenAPI document has no body"];
  if (type === undefined || !types.includes(type)) return [`the media type is ${type}`];
  const validate = validatorAt(`${position}${pointer("content", type, "schema")}`);
  validate(body);
  return (validate.errors ?? [])
    .slice(0, 10)
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
}
