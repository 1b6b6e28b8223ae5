export type { EntityManager, MikroORM } from "@mikro-orm/postgresql";
export { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
export { databaseUnavailable, uniqueViolation } from "./failures.ts";
export { newId } from "./ids.ts";
export { type MigrateOptions, migrate, type SqlMigration } from "./migrations.ts";
export { offsetOf, type PageInput, type Pagination, page } from "./paging.ts";
export { createSealer, type SealedPlace, type Sealer } from "./sealing.ts";
export { type StatementListener, statementCount } from "./statements.ts";
export { afterCommit, queryIn } from "./transaction.ts";
