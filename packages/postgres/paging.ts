/** A requested page. */
export interface PageInput {
  /** The page number, from 1. */
  number: number;
  size: number;
}

/** The rows of one page, and the total number of rows of the list. */
export interface Page<Row> {
  rows: Row[];
  total: number;
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** Returns the page that a request message names. 0 means absent and selects the default. */
export const pageOf = ({
  pageNumber,
  pageSize,
}: {
  pageNumber: number;
  pageSize: number;
}): PageInput => ({
  number: pageNumber || 1,
  size: Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
});

/** Returns the number of rows before the page, for SQL's OFFSET. */
export const offsetOf = ({ number, size }: PageInput): number => (number - 1) * size;
