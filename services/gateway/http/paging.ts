import { badRequest } from "@statehouse/errors";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "@statehouse/postgres/paging";
import { z } from "zod";
import type { Page } from "../jsonapi/pagination.ts";
import type { ParameterDescription } from "./query.ts";

/**
 * The largest page number, which fits into the messages of the services (uint32). Larger page numbers are replaced by
 * this number.
 */
const MAX_NUMBER = 2 ** 31 - 1;

const number: ParameterDescription = {
  name: "page[number]",
  description: "The number of the page, from 1; 0 is read as 1. A page past the end is empty.",
  schema: z.int().min(0).default(1),
};
const size = `The number of items on a page; values above ${MAX_PAGE_SIZE} count as ${MAX_PAGE_SIZE}.`;

/**
 * The requested page. Reading throws `badRequest` unless number and size are whole numbers and the size is above 0. The
 * number 0 is read as 1, because clients that count pages from 0 expect the first one.
 */
export const page = {
  parameters: [
    number,
    {
      name: "page[size]",
      description: size,
      schema: z.int().min(1).default(DEFAULT_PAGE_SIZE),
    },
  ],
  read: (query: URLSearchParams): Page => ({
    pageNumber: wholeNumber(query, "page[number]", { missing: 1, least: 0, most: MAX_NUMBER }) || 1,
    pageSize: wholeNumber(query, "page[size]", {
      missing: DEFAULT_PAGE_SIZE,
      least: 1,
      most: MAX_PAGE_SIZE,
    }),
  }),
};

/** Like `page`, but undefined if the query has no paging parameters. Undefined means that all items are requested. */
export const optionalPage = {
  parameters: [
    number,
    {
      name: "page[size]",
      description: `${size} Without paging parameters the only page has all items.`,
      schema: z.int().min(1),
    },
  ],
  read: (query: URLSearchParams): Page | undefined =>
    query.get("page[number]") || query.get("page[size]") ? page.read(query) : undefined,
};

/** Returns the only page of a list that was read completely. */
export const wholePage = (totalCount: number): Page => ({
  pageNumber: 1,
  pageSize: Math.max(1, totalCount),
});

function wholeNumber(
  query: URLSearchParams,
  name: string,
  { missing, least, most }: { missing: number; least: 0 | 1; most: number },
): number {
  const text = query.get(name);
  if (text === null || text === "") return missing;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least) {
    const expected = least === 0 ? "a whole number" : "a whole number above 0";
    throw badRequest("page", `${name} must be ${expected}.`);
  }
  return Math.min(value, most);
}
