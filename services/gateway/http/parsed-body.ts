import type { FieldError } from "@statehouse/errors";
import { parseBody, parseBodyLeniently, parseJson } from "./body.ts";
import type { Route } from "./route.ts";

/** A body that was parsed by the schema of its route. If there are `problems`, `body` is its valid part. */
export interface ParsedBody {
  body: unknown;
  problems: readonly FieldError[];
}

/** Parses the body of a route; without a schema the body is ignored. Throws `badRequest` or `invalid`. */
export function parseRouteBody(
  { body: schema, validatesOnly }: Route,
  bytes: Uint8Array,
): ParsedBody {
  const json = parseJson(bytes);
  if (!schema) return { body: undefined, problems: [] };
  return validatesOnly
    ? parseBodyLeniently(schema, json)
    : { body: parseBody(schema, json), problems: [] };
}
