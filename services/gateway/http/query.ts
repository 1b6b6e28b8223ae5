/** A parameter's value; an empty one counts as absent. */
export const parameter = (query: URLSearchParams, name: string): string | undefined =>
  query.get(name) || undefined;

/** The comma-separated values of a parameter. */
export const listParameter = (query: URLSearchParams, name: string): string[] =>
  (query.get(name) ?? "")
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
