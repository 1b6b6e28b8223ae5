import type { EventFacts } from "@statehouse/events";
import { type EntityManager, insertAtCommit } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";
import { recordOfEvent } from "./event-record.ts";
import { type AuditRecord, insertRecords, rowOf } from "./record.ts";

/** Records the change of an event with the commit of its transaction, unless another event records the change. */
export function recordEventChange(em: EntityManager, event: EventFacts): void {
  const record = recordOfEvent(event);
  if (record) insertRecord(em, record);
}

/**
 * Records a change that has no event, with the commit of the transaction of `em`. The attributes in `record` are
 * properties of the changed row; their names are recorded in kebab-case.
 */
export async function recordChange(em: EntityManager, record: AuditRecord): Promise<void> {
  const changedAttributes = record.changedAttributes?.map(kebabCase);
  insertRecord(em, { ...record, ...(changedAttributes && { changedAttributes }) });
}

/** Without an actor, the service has made the change by itself. Its name is the name of the database's context. */
const insertRecord = (em: EntityManager, record: AuditRecord): void =>
  insertAtCommit(em, insertRecords, rowOf(record, em.config.get("contextName")));
