import { offsetOf, pageOf } from "@statehouse/postgres/paging";

/** The largest int4. */
const ALL = 2 ** 31 - 1;

interface PageFields {
  pageNumber: number;
  pageSize: number;
}

interface Rows {
  limit: number;
  offset: number;
}

/** The rows of a page. */
export function sliceOf(fields: PageFields): Rows {
  const page = pageOf(fields);
  return { limit: page.size, offset: offsetOf(page) };
}

/** For lists that clients read without paging: returns all rows if no page size is given. */
export const wholeOrSliceOf = (page: PageFields): Rows =>
  page.pageSize === 0 ? { limit: ALL, offset: 0 } : sliceOf(page);
