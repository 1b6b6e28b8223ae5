import { type PageInput, pageOf } from "@statehouse/postgres/paging";

/** The largest int4. */
const ALL = 2 ** 31 - 1;

/** For lists that clients read without paging: returns all rows if no page size is given. */
export const wholeOrPageOf = (page: { pageNumber: number; pageSize: number }): PageInput =>
  page.pageSize === 0 ? { number: 1, size: ALL } : pageOf(page);
