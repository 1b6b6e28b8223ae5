import { EntitySchema } from "@mikro-orm/core";
import { type Database, type EntityManager, recordsOf } from "@statehouse/postgres";
import { boolean, selectList, text } from "@statehouse/postgres/columns";
import { GeneralSettings } from "./domain.ts";

const columns = {
  id: { ...boolean, primary: true },
  defaultRemoteStateAccess: boolean,
  planTimeout: text,
  applyTimeout: text,
} as const;

const entity = new EntitySchema({
  class: GeneralSettings,
  tableName: "general_settings",
  properties: columns,
});

const missing = () => new Error("the row of general settings is missing");

const reads = (database: Database) => ({
  async get(): Promise<GeneralSettings> {
    const [row] = await database.query<GeneralSettings>(
      `select ${selectList("s", columns)} from general_settings s`,
    );
    if (!row) throw missing();
    return row;
  },
});

/** Reads and writes of the settings inside a transaction. */
const rows = (em: EntityManager) => recordsOf(em, entity, missing);

export const generalSettings = { entity, reads, rows };
