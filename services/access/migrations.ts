import path from "node:path";
import { auditMigrations } from "@statehouse/audit";
import { eventMigrations } from "@statehouse/events";
import { readMigrations, type SqlMigration } from "@statehouse/postgres";

export const migrations: readonly SqlMigration[] = [
  ...auditMigrations,
  ...eventMigrations,
  ...readMigrations(path.join(import.meta.dirname, "migrations")),
];
