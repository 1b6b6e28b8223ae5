import { LockConflict } from "../domain/errors.ts";
import type { App } from "./app.ts";

/**
 * Runs `work`, and names the holder in the conflict that it may end with. Access is asked only then, after
 * the transaction is over; when it does not answer, the conflict names the holder by id.
 */
export async function namingHolder<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LockConflict)) throw error;
    const name = await app.access.nameOf(error.holder).catch(() => undefined);
    throw name === undefined ? error : error.named(name);
  }
}
