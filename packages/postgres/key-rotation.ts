import type { ColumnCipher, ColumnLocation } from "./column-cipher.ts";
import type { Database } from "./database.ts";
import { queryIn } from "./transaction.ts";

/** A table with a primary key `id` and a column of sealed values, some of which may be null. */
export interface SealedColumn {
  table: string;
  column: string;
  /** Returns the associated data to which the value of a row is bound. */
  locationOf(rowId: string): ColumnLocation;
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
  cipher: ColumnCipher,
  column: SealedColumn,
): Promise<number> {
  let rotated = 0;
  let after: string | undefined = "";
  while (after !== undefined) {
    const batch = await rotateBatch(database, cipher, column, after);
    rotated += batch.rotated;
    after = batch.last;
  }
  return rotated;
}

const rotateBatch = (
  database: Database,
  cipher: ColumnCipher,
  { table, column, locationOf }: SealedColumn,
  after: string,
): Promise<{ rotated: number; last: string | undefined }> =>
  database.transaction(async (em) => {
    const rows = await queryIn<{ id: string; encrypted: string }>(
      em,
      // index: the primary key
      `select id, ${column} as encrypted from ${table}
       where id > $1 and ${column} is not null order by id limit $2 for update`,
      [after, BATCH],
    );
    const stale = rows
      .filter(({ encrypted }) => cipher.isStale(encrypted))
      .map(({ id, encrypted }) => {
        const location = locationOf(id);
        return {
          id,
          encrypted: cipher.encryptColumn(cipher.decryptColumn(encrypted, location), location),
        };
      });
    if (stale.length > 0) {
      await queryIn(
        em,
        `update ${table} set ${column} = fresh.encrypted
         from json_to_recordset($1) as fresh (id text, encrypted text)
         where ${table}.id = fresh.id`,
        [JSON.stringify(stale)],
      );
    }
    return { rotated: stale.length, last: rows.at(-1)?.id };
  });
