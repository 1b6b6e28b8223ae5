import { type Published, recordEvent } from "@statehouse/events";
import { type EntityManager, insertAtCommit } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";
import { recordOfEvent } from "./event-record.ts";
import { type AuditRecord, insertRecords, rowOf } from "./record.ts";

/**
 * When the transaction of `em` commits, publishes the event, and records the change that it describes, unless another
 * event records the same change.
 */
const recordEventChange = (em: EntityManager, event: Published): Promise<void> =>
  recordEvent(em, event, (facts) => {
    const record = recordOfEvent(facts);
    if (record) insertRecord(em, record);
  });

/**
 * When the transaction of `em` commits, records a change that has no event. The attributes in `record` are properties
 * of the changed row; their names are recorded in kebab-case.
 */
export async function recordChange(em: EntityManager, record: AuditRecord): Promise<void> {
  const changedAttributes = record.changedAttributes?.map(kebabCase);
  insertRecord(em, { ...record, ...(changedAttributes && { changedAttributes }) });
}

/**
 * Inserts a record when the transaction commits. If there is no current actor, the actor is the service itself, whose
 * name is the database's context name.
 */
const insertRecord = (em: EntityManager, record: AuditRecord): void =>
  insertAtCommit(em, insertRecords, rowOf(record, em.config.get("contextName")));

/** The functions that `tx.record` and `tx.audit` of a service's transactions call. */
export const recorders = { event: recordEventChange, change: recordChange };
