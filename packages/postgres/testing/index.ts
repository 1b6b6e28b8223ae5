export { type FreshDatabase, freshDatabase } from "./fresh-database.ts";
export { missingIndexes } from "./named-indexes.ts";
export { migratedSchemaDrift } from "./schema-drift.ts";
