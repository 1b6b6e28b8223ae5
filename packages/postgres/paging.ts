/** A page that was asked for. */
export interface PageInput {
  /** From 1. */
  number: number;
  size: number;
}

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

/** The page that a request message asks for; 0, which is absent, is the default. */
export const pageOf = ({
  pageNumber,
  pageSize,
}: {
  pageNumber: number;
  pageSize: number;
}): PageInput => ({
  number: pageNumber || 1,
  size: Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE),
});

/** How many rows come before the page, for SQL's OFFSET. */
export const offsetOf = ({ number, size }: PageInput): number => (number - 1) * size;
