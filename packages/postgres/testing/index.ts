export { type FreshDatabase, freshDatabase } from "./fresh-database.ts";
export { migratedSchemaDrift } from "./schema-drift.ts";
