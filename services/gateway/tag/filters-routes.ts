import { badRequest } from "@statehouse/errors";
import { z } from "zod";
import { parameter } from "../http/query.ts";

/** A condition on tag bindings, own or inherited. An empty key matches any key, and an empty value any value. */
export interface TagFilter {
  key: string;
  value: string;
}

const PARAMETER = /^filter\[tagged\]\[(\d+)\]\[(key|value)\]$/;
/** Maximum number of conditions. Each condition adds a subquery to the SQL statement. */
const MAX_FILTERS = 10;

/**
 * The filters `filter[tagged][i][key]` and `filter[tagged][i][value]`, grouped by i. Reading throws `badRequest` if
 * there are more than ten.
 */
export const tagFilters = {
  parameters: Array.from({ length: MAX_FILTERS }, (_, index) => [
    {
      name: `filter[tagged][${index}][key]`,
      description: "Only items that have or inherit a tag binding with this key.",
      schema: z.string(),
    },
    {
      name: `filter[tagged][${index}][value]`,
      description: "The value of the tag binding; empty for any value.",
      schema: z.string(),
    },
  ]).flat(),
  read: readTagFilters,
};

function readTagFilters(query: URLSearchParams): TagFilter[] {
  const filters = new Map<string, TagFilter>();
  for (const name of new Set(query.keys())) {
    const [, index, part] = PARAMETER.exec(name) ?? [];
    const text = index === undefined ? undefined : parameter(query, name);
    if (index === undefined || text === undefined) continue;
    const filter = filters.get(index) ?? { key: "", value: "" };
    filters.set(index, part === "key" ? { ...filter, key: text } : { ...filter, value: text });
  }
  if (filters.size > MAX_FILTERS)
    throw badRequest("parameter", `filter[tagged] has more than ${MAX_FILTERS} filters.`);
  return [...filters.values()];
}
