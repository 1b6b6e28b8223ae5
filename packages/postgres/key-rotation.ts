import type { Database } from "./database.ts";
import type { SealedPlace, Sealer } from "./sealing.ts";
import { queryIn } from "./transaction.ts";

/** A table with a primary key `id` and a column of sealed values, some of which may be null. */
export interface SealedColumn {
  table: string;
  column: string;
  /** Returns the associated data to which the value of a row is bound. */
  placeOf(rowId: string): SealedPlace;
}

/** Returns the ids of the keys that encrypt values of the column. */
export async function sealingKeyIds(
  database: Pick<Database, "query">,
  { table, column }: SealedColumn,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    // This statement reads the whole table, which is acceptable because only the preflight command runs it.
    `select distinct split_part(${column}, ':', 1) as id from ${table} where ${column} is not null`,
  );
  return rows.map(({ id }) => id);
}

const BATCH = 500;

/**
 * Re-encrypts with the first key all values that an older key encrypted. Returns the number of these values. Can be
 * repeated safely.
 */
export async function rotateColumnKeys(
  database: Database,
  sealer: Sealer,
  column: SealedColumn,
): Promise<number> {
  let rotated = 0;
  let after: string | undefined = "";
  while (after !== undefined) {
    const batch = await rotateBatch(database, sealer, column, after);
    rotated += batch.rotated;
    after = batch.last;
  }
  return rotated;
}

const rotateBatch = (
  database: Database,
  sealer: Sealer,
  { table, column, placeOf }: SealedColumn,
  after: string,
): Promise<{ rotated: number; last: string | undefined }> =>
  database.transaction(async (em) => {
    const rows = await queryIn<{ id: string; sealed: string }>(
      em,
      // index: the primary key
      `select id, ${column} as sealed from ${table}
       where id > $1 and ${column} is not null order by id limit $2 for update`,
      [after, BATCH],
    );
    const stale = rows
      .filter(({ sealed }) => sealer.isStale(sealed))
      .map(({ id, sealed }) => {
        const place = placeOf(id);
        return { id, sealed: sealer.seal(sealer.unseal(sealed, place), place) };
      });
    if (stale.length > 0) {
      await queryIn(
        em,
        `update ${table} set ${column} = fresh.sealed
         from json_to_recordset($1) as fresh (id text, sealed text)
         where ${table}.id = fresh.id`,
        [JSON.stringify(stale)],
      );
    }
    return { rotated: stale.length, last: rows.at(-1)?.id };
  });
