import type { Page } from "./paging.ts";

/** A row of a `withTotal` statement. An empty page is one row whose id is null. */
export type RowWithTotal<Row> = { total: number } & (Row | { id: null });

export interface ListStatement {
  /**
   * Selects one row with the column `total`: `select count(*) as total from teams where …`. Further columns are part of
   * every row, and `select` can use them as `counted.…`.
   */
  count: string;
  /** The statement that selects the page's rows; their columns include `id`. */
  select: string;
  /** The sort order, repeated over the rows as `listed`: `listed.name`. */
  order: string;
}

/**
 * One statement for a page and its total, so that both come from one snapshot. The total is also
 * correct for a page past the end.
 */
export const withTotal = ({ count, select, order }: ListStatement): string => `
   select counted.*, listed.*
   from (${count}) counted left join lateral (${select}) listed on true order by ${order}`;

/** The page that a `withTotal` statement returned. */
export const pageWithTotal = <Row extends { id: string }>(
  rows: readonly RowWithTotal<Row>[],
): Page<Row> => ({
  rows: rows.flatMap(({ total: _, ...row }): Row[] =>
    row.id === null ? [] : [row as unknown as Row],
  ),
  total: rows[0]?.total ?? 0,
});
