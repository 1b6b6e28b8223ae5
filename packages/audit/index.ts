export { type Audit, createAudit } from "./audit.ts";
export { companionOf, recordChange } from "./changes.ts";
export { auditMigrations } from "./migrations.ts";
export { startPartitions } from "./partitions.ts";
export type { AuditRecord } from "./record.ts";
