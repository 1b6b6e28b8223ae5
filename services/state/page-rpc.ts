import { type PageInput, pageOf } from "@statehouse/postgres/paging";

/** The largest int4, used as a page size that includes all rows. */
const ALL = 2 ** 31 - 1;

/**
 * Returns the page that a request message describes, or all rows if the message has no page size. Used for lists that
 * clients can read without paging.
 */
export const wholeOrPageOf = (page: { pageNumber: number; pageSize: number }): PageInput =>
  page.pageSize === 0 ? { number: 1, size: ALL } : pageOf(page);
