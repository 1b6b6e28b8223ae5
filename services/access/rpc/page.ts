import type { PageInput } from "@statehouse/postgres";

/** For a request that names no page. */
const FIRST_PAGE = 1;
const PAGE_SIZE = 20;

export const pageOf = ({
  pageNumber,
  pageSize,
}: {
  pageNumber: number;
  pageSize: number;
}): PageInput => ({ number: pageNumber || FIRST_PAGE, size: pageSize || PAGE_SIZE });
