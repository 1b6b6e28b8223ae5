import { badRequest } from "@statehouse/errors";

/**
 * Returns the value of a parameter; an empty value counts as absent. Throws `badRequest` for characters that the
 * database does not accept.
 */
export function parameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) || undefined;
  if (value?.includes("\0")) throw badRequest("parameter", `${name} contains a NUL character.`);
  return value;
}

/** Returns the value of a required parameter. Throws `badRequest` if it is absent. */
export function requiredParameter(query: URLSearchParams, name: string): string {
  const value = parameter(query, name);
  if (value === undefined) throw badRequest("filter", `${name} is required.`);
  return value;
}

/** Returns the comma-separated values of a parameter. */
export const listParameter = (query: URLSearchParams, name: string): string[] =>
  (parameter(query, name) ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
