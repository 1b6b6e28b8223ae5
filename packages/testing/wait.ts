import { setTimeout as pause } from "node:timers/promises";

/**
 * Polls until the result is neither false, null nor undefined, and returns it. A condition that throws is called again.
 * Throws after `timeout` ms (60 s), with the last error as its cause.
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
