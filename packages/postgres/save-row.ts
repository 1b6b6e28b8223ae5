import type { EntityManager } from "@mikro-orm/postgresql";
import { uniqueViolation } from "./failures.ts";

/** Maps a unique constraint or index to the error that is thrown if a row violates it. */
type Taken = Readonly<Record<string, () => Error>>;

/**
 * Inserts the row or writes its changes. `taken` maps a unique constraint or index to the error that is thrown if the
 * row violates it: another transaction has taken the value since it was checked.
 */
export const saveRow = (em: EntityManager, row: object, taken: Taken): Promise<void> =>
  withTaken(taken, async () => {
    em.persist(row);
    await em.flush();
  });

/** Runs a statement that writes a row, and throws the errors of `taken` like `saveRow`. */
export async function withTaken<T>(taken: Taken, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const violated = Object.keys(taken).find((name) => uniqueViolation(error, name));
    throw (violated && taken[violated]?.()) ?? error;
  }
}
