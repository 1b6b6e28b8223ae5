import { setTimeout as pause } from "node:timers/promises";

/**
 * Polls `condition` until its result is not false, null or undefined, and returns the result. Ignores errors that
 * `condition` throws. Throws after `timeout` ms (default 60 s), with the last of these errors as the cause.
 */
export async function waitFor<T>(
  condition: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  { timeout = 60_000, interval = 20, what = "the condition" } = {},
): Promise<T> {
  const deadline = performance.now() + timeout;
  let cause: unknown;
  do {
    try {
      const answer = await condition();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(interval);
  } while (performance.now() < deadline);
  const last = cause instanceof Error ? `; last error: ${cause.message}` : "";
  throw new Error(`Waited ${timeout} ms in vain for ${what}${last}`, { cause });
}
