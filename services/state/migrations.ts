import path from "node:path";
import { auditMigrations } from "@statehouse/audit";
import { eventMigrations } from "@statehouse/events";
import { readMigrations, type SqlMigration } from "@statehouse/postgres";

/** The schema of the state service's database. */
export const migrations: readonly SqlMigration[] = [
  ...auditMigrations,
  ...eventMigrations,
  ...readMigrations(path.join(import.meta.dirname, "migrations")),
];
