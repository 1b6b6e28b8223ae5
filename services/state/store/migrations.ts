import path from "node:path";
import { outboxMigration, parkedEventsMigration } from "@statehouse/events";
import { readMigrations, type SqlMigration } from "@statehouse/postgres";

export const migrations: readonly SqlMigration[] = [
  outboxMigration,
  parkedEventsMigration,
  ...readMigrations(path.join(import.meta.dirname, "migrations")),
];
