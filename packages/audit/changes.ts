import type { EventFacts } from "@statehouse/events";
import { type EntityManager, queryIn } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";
import { recordOfEvent } from "./event-record.ts";
import { type AuditRecord, insertRecords, rowOf } from "./record.ts";

/**
 * Returns the statement that records the change of an event, for the transaction of the event. Undefined if the change
 * is recorded with another event. `service` is the actor of work that has none.
 */
export function companionOf(event: EventFacts, service: string) {
  const record = recordOfEvent(event);
  return record && { sql: insertRecords, param: JSON.stringify([rowOf(record, service)]) };
}

/**
 * Records a change that has no event, in the transaction of `em`. Its attributes are properties of the changed row, and
 * recorded in kebab-case.
 */
export async function recordChange(em: EntityManager, record: AuditRecord): Promise<void> {
  const service = em.config.get("contextName");
  const changedAttributes = record.changedAttributes?.map(kebabCase);
  const row = rowOf({ ...record, ...(changedAttributes && { changedAttributes }) }, service);
  await queryIn(em, insertRecords, [JSON.stringify([row])]);
}
