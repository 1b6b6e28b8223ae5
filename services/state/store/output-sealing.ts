import { type Database, queryIn, type Sealer } from "@statehouse/postgres";
import { outputPlace } from "./outputs.ts";

const BATCH = 500;

/** Seals again, under the first key, what older keys sealed; answers how many values. Safe to repeat. */
export async function resealOutputs(database: Database, sealer: Sealer): Promise<number> {
  let resealed = 0;
  let after: string | undefined = "";
  while (after !== undefined) {
    const batch = await resealBatch(database, sealer, after);
    resealed += batch.resealed;
    after = batch.last;
  }
  return resealed;
}

const resealBatch = (
  database: Database,
  sealer: Sealer,
  after: string,
): Promise<{ resealed: number; last: string | undefined }> =>
  database.transaction(async (em) => {
    const rows = await queryIn<{ id: string; sealed_value: string }>(
      em,
      // index: state_version_output_pkey
      `select id, sealed_value from state_version_output
       where id > $1 and sealed_value is not null order by id limit $2 for update`,
      [after, BATCH],
    );
    const stale = rows
      .filter((row) => sealer.isStale(row.sealed_value))
      .map((row) => {
        const place = outputPlace(row.id);
        return { id: row.id, sealed: sealer.seal(sealer.unseal(row.sealed_value, place), place) };
      });
    if (stale.length > 0) {
      await queryIn(
        em,
        `update state_version_output set sealed_value = fresh.sealed
         from json_to_recordset($1) as fresh (id text, sealed text)
         where state_version_output.id = fresh.id`,
        [JSON.stringify(stale)],
      );
    }
    return { resealed: stale.length, last: rows.at(-1)?.id };
  });
