import type { Page } from "./paging.ts";

/** A row of a `withTotal` statement. An empty page is one row whose id is null. */
export type RowWithTotal<Row> = { total: number } & (Row | { id: null });

export interface ListStatement {
  /**
   * Selects one row with the column `total`: `select count(*) as total from teams where …`. Other columns of this row
   * are added to every row of the page; `select` can use them as `counted.…`.
   */
  count: string;
  /** Selects the page's rows, including the column `id`. */
  select: string;
  /**
   * The sort order of the page, with columns of the alias `listed`: `listed.name`. `select` must sort by the same
   * columns before its limit; this order sorts the joined rows again.
   */
  order: string;
}

/**
 * Builds one statement that returns a page and its total from the same snapshot. The total is also correct for a page
 * past the end of the list.
 */
export const withTotal = ({ count, select, order }: ListStatement): string => `
   select counted.*, listed.*
   from (${count}) counted left join lateral (${select}) listed on true order by ${order}`;

/** Converts the rows of a `withTotal` statement into a page. */
export const pageWithTotal = <Row extends { id: string }>(
  rows: readonly RowWithTotal<Row>[],
): Page<Row> => ({
  rows: rows.flatMap(({ total: _, ...row }): Row[] =>
    row.id === null ? [] : [row as unknown as Row],
  ),
  total: rows[0]?.total ?? 0,
});
