import { badRequest } from "@statehouse/errors";
import { parameter } from "../http/query.ts";

/** One condition on effective tag bindings; an empty member matches anything. */
export interface TagFilter {
  key: string;
  value: string;
}

const PARAMETER = /^filter\[tagged\]\[(\d+)\]\[(key|value)\]$/;
/** Each is a join. */
const MOST = 10;

/** The `filter[tagged][i][key]` and `[value]` of a query, by i. Throws `badRequest` beyond ten. */
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
