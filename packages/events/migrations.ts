import path from "node:path";
import { readMigrations } from "@statehouse/postgres";

/** Migrations of the outbox and the dead letters. Every service includes them in its own migrations. */
export const eventMigrations = readMigrations(path.join(import.meta.dirname, "migrations"));
