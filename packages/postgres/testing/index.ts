export { type FreshDatabase, freshDatabase } from "./fresh-database.ts";
export { missingIndexes } from "./named-indexes.ts";
export { migratedSchemaDrift } from "./schema-drift.ts";
export { setServerVersion } from "./server-version.ts";
