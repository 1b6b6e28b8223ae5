import { type Database, resealColumn, type Sealer } from "@statehouse/postgres";
import { sshKeyPlace } from "../domain/ssh-key.ts";

/** Seals private keys again under the first key; answers how many. Safe to repeat. */
export const resealSshKeys = (database: Database, sealer: Sealer): Promise<number> =>
  resealColumn(database, sealer, {
    table: "ssh_keys",
    column: "sealed_value",
    placeOf: sshKeyPlace,
  });
