import { type Database, resealColumn, type Sealer } from "@statehouse/postgres";
import { outputPlace } from "./outputs.ts";

/** Seals sensitive outputs again under the first key; answers how many. Safe to repeat. */
export const resealOutputs = (database: Database, sealer: Sealer): Promise<number> =>
  resealColumn(database, sealer, {
    table: "state_version_output",
    column: "sealed_value",
    placeOf: outputPlace,
  });
