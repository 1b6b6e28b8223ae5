import { createLogger } from "@statehouse/runtime";
import { openDatabase, type SqlMigration, schemaDrift } from "../index.ts";
import { freshDatabase } from "./fresh-database.ts";

type Entities = Parameters<typeof openDatabase>[0]["entities"];

/** Returns the differences between a service's entities and its migrated database, one per line. */
export async function migratedSchemaDrift(service: {
  contextName: string;
  entities: Entities;
  migrations: readonly SqlMigration[];
}): Promise<string[]> {
  await using fresh = await freshDatabase(service);
  const logger = createLogger({ service: "test", level: "silent" });
  await using database = await openDatabase({ ...service, url: fresh.url, logger });
  return await schemaDrift(database);
}
