export { type ColumnCipher, createColumnCipher, deriveKey } from "./column-cipher.ts";
export { type Database, openDatabase, type Pooling } from "./database.ts";
export { schemaDrift } from "./drift.ts";
export { rotateColumnKeys, type SealedColumn, sealingKeyIds } from "./key-rotation.ts";
export { migrate, readMigrations, type SqlMigration } from "./migrations.ts";
export {
  createTransactions,
  entitiesOf,
  type PartsOf,
  partsOf,
  type TxOf,
  tablesOfOrganization,
} from "./nouns.ts";
export { offsetOf, type Page, type PageInput, pageOf } from "./paging.ts";
export { loadBoth, loadRows, recordsOf, selectRows, selectWhere, type Where } from "./records.ts";
export { requireSupportedServer } from "./server-version.ts";
export { awaitedStatementCount, watchStatements } from "./statements.ts";
export {
  afterCommit,
  commitWith,
  existsIn,
  type InsertAtCommit,
  insertAtCommit,
  type LastStatement,
  queryIn,
  type TransactionMode,
} from "./transaction.ts";
export { changedProperties, type EntityManager } from "./unit-of-work.ts";
export { pageWithTotal, type RowWithTotal, withTotal } from "./with-total.ts";
