import { type PageInput, pageOf } from "@statehouse/postgres/paging";

/** The largest int4, used as a page size that includes all rows. */
const ALL = 2 ** 31 - 1;

/** For lists that clients may read without paging: includes all rows if the request has no page size. */
export const wholeOrPageOf = (page: { pageNumber: number; pageSize: number }): PageInput =>
  page.pageSize === 0 ? { number: 1, size: ALL } : pageOf(page);
