import { badRequest } from "@statehouse/errors";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "@statehouse/postgres/paging";
import type { Page } from "../jsonapi/pagination.ts";

/** Maximum page number. Messages contain page numbers as uint32. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Reads the page that a query requests. Throws `badRequest` unless number and size are whole numbers above 0. */
export const readPage = (query: URLSearchParams): Page => ({
  number: positive(query, "page[number]", 1, MAX_NUMBER),
  size: positive(query, "page[size]", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
});

/** Reads the page like `readPage`, but returns undefined if the query has no paging parameters. */
export const readOptionalPage = (query: URLSearchParams): Page | undefined =>
  query.get("page[number]") || query.get("page[size]") ? readPage(query) : undefined;

/** Returns the only page of a list that was read completely. */
export const wholePage = (totalCount: number): Page => ({
  number: 1,
  size: Math.max(1, totalCount),
});

function positive(query: URLSearchParams, name: string, missing: number, most: number): number {
  const text = query.get(name);
  if (text === null || text === "") return missing;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) {
    throw badRequest("page", `${name} must be a whole number above 0.`);
  }
  return Math.min(value, most);
}
