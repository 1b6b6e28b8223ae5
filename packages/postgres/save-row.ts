import type { EntityManager } from "@mikro-orm/postgresql";
import { uniqueViolation } from "./failures.ts";

/**
 * Inserts the row or writes its changes. `taken` maps a unique constraint or index to the error that is thrown if the row
 * violates it: another transaction has taken the value since it was checked.
 */
export async function saveRow(
  em: EntityManager,
  row: object,
  taken: Readonly<Record<string, () => Error>>,
): Promise<void> {
  try {
    em.persist(row);
    await em.flush();
  } catch (error) {
    const violated = Object.keys(taken).find((name) => uniqueViolation(error, name));
    throw (violated && taken[violated]?.()) ?? error;
  }
}
