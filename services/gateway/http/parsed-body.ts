import { badRequest, type FieldError } from "@statehouse/errors";
import { parseBody, parseBodyLeniently, parseJson } from "./body.ts";
import { countValues } from "./count-values.ts";
import type { Route } from "./route.ts";

/** A body that was parsed by the schema of its route. If there are `problems`, `body` is its valid part. */
export interface ParsedBody {
  body: unknown;
  problems: readonly FieldError[];
}

/**
 * The maximum number of values in a body. The largest documents that routes accept have fewer values, and the parser
 * thread has enough memory for this number.
 */
const MAX_VALUES = 2_000_000;

/** Throws `badRequest` if a body has more values than any route accepts. */
export function refuseTooManyValues(bytes: Uint8Array): void {
  if (countValues(bytes, MAX_VALUES) > MAX_VALUES) {
    throw badRequest("json", `The request body may have at most ${MAX_VALUES} values.`);
  }
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
