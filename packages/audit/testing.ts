import { waitFor } from "@statehouse/testing";
import {
  type ChainingOptions,
  chainRecords,
  foreignTransactions,
  oldestOpenTransaction,
} from "./chaining.ts";

const delayed = `
  select from audit_records
  where batch is null and transaction >= ${oldestOpenTransaction("$1")} limit 1`;

/**
 * Waits until all records can be sealed, then runs one turn of the sealer. A record cannot be sealed while a
 * transaction is open that started before the record was written. Returns what `chainRecords` returns.
 */
export async function chainWhenReady(options: ChainingOptions): Promise<boolean> {
  const { database } = options;
  const ready = async () => {
    const [row] = await database.query<{ foreign: string[] }>(
      `select ${foreignTransactions} as foreign`,
    );
    return (await database.query(delayed, [row?.foreign ?? []])).length === 0;
  };
  await waitFor(ready, { interval: 5, what: "the end of other transactions" });
  return chainRecords(options);
}
