import { badRequest } from "@statehouse/errors";
import { parameter } from "../http/query.ts";

/** A condition on effective tag bindings. An empty key or value matches any. */
export interface TagFilter {
  key: string;
  value: string;
}

const PARAMETER = /^filter\[tagged\]\[(\d+)\]\[(key|value)\]$/;
/** Maximum number of conditions. Each of them is a join. */
const MOST = 10;

/**
 * Reads `filter[tagged][i][key]` and `filter[tagged][i][value]` from a query, grouped by i. Throws `badRequest` if
 * there are more than ten.
 */
export function tagFilters(query: URLSearchParams): TagFilter[] {
  const filters = new Map<string, TagFilter>();
  for (const name of new Set(query.keys())) {
    const [, index, part] = PARAMETER.exec(name) ?? [];
    const given = index === undefined ? undefined : parameter(query, name);
    if (index === undefined || given === undefined) continue;
    const filter = filters.get(index) ?? { key: "", value: "" };
    filters.set(index, part === "key" ? { ...filter, key: given } : { ...filter, value: given });
  }
  if (filters.size > MOST)
    throw badRequest("parameter", `filter[tagged] has more than ${MOST} filters.`);
  return [...filters.values()];
}
