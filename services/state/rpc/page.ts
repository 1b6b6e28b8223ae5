import { offsetOf } from "@statehouse/postgres";

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;
/** The largest int4. */
const ALL = 2 ** 31 - 1;

/** The rows of a page; 0, which is absent, is the default. */
export function sliceOf({ pageNumber, pageSize }: { pageNumber: number; pageSize: number }): {
  limit: number;
  offset: number;
} {
  const size = Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE);
  return { limit: size, offset: offsetOf({ number: pageNumber || 1, size }) };
}

/** For lists that clients read without paging: no page asked for is all of them, in one statement. */
export const wholeOrSliceOf = (page: { pageNumber: number; pageSize: number }) =>
  page.pageSize === 0 ? { limit: ALL, offset: 0 } : sliceOf(page);
