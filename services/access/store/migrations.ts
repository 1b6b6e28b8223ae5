import path from "node:path";
import { eventMigrations } from "@statehouse/events";
import { readMigrations, type SqlMigration } from "@statehouse/postgres";

export const migrations: readonly SqlMigration[] = [
  ...eventMigrations,
  ...readMigrations(path.join(import.meta.dirname, "migrations")),
];
