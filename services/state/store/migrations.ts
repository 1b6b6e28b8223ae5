import path from "node:path";
import { eventMigrations } from "@statehouse/events";
import { readMigrations, type SqlMigration } from "@statehouse/postgres";

/** The schema of the state service's database. */
export const migrations: readonly SqlMigration[] = [
  ...eventMigrations,
  ...readMigrations(path.join(import.meta.dirname, "migrations")),
];
