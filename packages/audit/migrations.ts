import path from "node:path";
import { readMigrations } from "@statehouse/postgres";

/** Migrations of the audit trail. Every service includes them in its own migrations. */
export const auditMigrations = readMigrations(path.join(import.meta.dirname, "migrations"));
