import path from "node:path";
import { readMigrations } from "@statehouse/postgres";

/** Migrations of the outbox and the dead letters, which every service has among its own. */
export const eventMigrations = readMigrations(path.join(import.meta.dirname, "migrations"));
