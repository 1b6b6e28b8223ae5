export interface PageInput {
  /** From 1. */
  number: number;
  size: number;
}

export interface Pagination {
  currentPage: number;
  pageSize: number;
  prevPage: number | null;
  nextPage: number | null;
  totalPages: number;
  totalCount: number;
}

/** Describes page `input` of `total` rows. An empty list has one page, as the clients expect. */
export function page({ number, size }: PageInput, total: number): Pagination {
  const totalPages = Math.max(1, Math.ceil(total / size));
  return {
    currentPage: number,
    pageSize: size,
    prevPage: number > 1 ? Math.min(number - 1, totalPages) : null,
    nextPage: number < totalPages ? number + 1 : null,
    totalPages,
    totalCount: total,
  };
}

/** How many rows come before the page, for SQL's OFFSET. */
export const offsetOf = ({ number, size }: PageInput): number => (number - 1) * size;
