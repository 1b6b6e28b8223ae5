import { type Database, queryIn, type Sealer } from "@statehouse/postgres";
import { sshKeyPlace } from "../domain/ssh-key.ts";

const BATCH = 500;

/** Seals again, under the first key, what older keys sealed; answers how many values. Safe to repeat. */
export async function resealSshKeys(database: Database, sealer: Sealer): Promise<number> {
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
      // index: ssh_keys_pkey
      "select id, sealed_value from ssh_keys where id > $1 order by id limit $2 for update",
      [after, BATCH],
    );
    const stale = rows.filter((row) => sealer.isStale(row.sealed_value));
    for (const { id, sealed_value } of stale) {
      const place = sshKeyPlace(id);
      await queryIn(em, "update ssh_keys set sealed_value = $2 where id = $1", [
        id,
        sealer.seal(sealer.unseal(sealed_value, place), place),
      ]);
    }
    return { resealed: stale.length, last: rows.at(-1)?.id };
  });
