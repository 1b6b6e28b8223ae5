/** The rows of a page, beside how many there are in all; one row without an id when the page is empty. */
export type CountedRow<Row> = { total: number } & (Row | { id: null });

/** `select` (of columns that include id) and `count`, as one statement; true totals also past the end. */
export const counted = (count: string, select: string, order: string): string => `
   select counted.total, listed.*
   from (${count}) counted left join lateral (${select}) listed on true order by ${order}`;

/** The rows themselves. */
export const rowsOf = <Row extends { id: string }>(rows: readonly CountedRow<Row>[]) => ({
  rows: rows.flatMap(({ total: _, ...row }): Row[] =>
    row.id === null ? [] : [row as unknown as Row],
  ),
  total: rows[0]?.total ?? 0,
});
