export type { EntityManager } from "@mikro-orm/postgresql";
export { type Database, openDatabase } from "./database.ts";
export { uniqueViolation } from "./failures.ts";
export { newId } from "./ids.ts";
export { migrate, type SqlMigration } from "./migrations.ts";
export { offsetOf, type PageInput, pageOf } from "./paging.ts";
export { createSealer, type Sealer } from "./sealing.ts";
export { statementCount } from "./statements.ts";
export { afterCommit, queryIn } from "./transaction.ts";
