/** A requested page. */
export interface PageInput {
  /** From 1. */
  number: number;
  size: number;
}

/** The rows of one page and the number of rows of the whole list. */
export interface Page<Row> {
  rows: Row[];
  total: number;
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** The page that a request message names; 0 means absent and selects the default. */
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

/** Number of rows before the page, for SQL's OFFSET. */
export const offsetOf = ({ number, size }: PageInput): number => (number - 1) * size;
