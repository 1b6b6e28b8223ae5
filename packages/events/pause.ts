import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits for the time to pass or for `stop`. The timer keeps the process alive: nothing else does so in a subscriber
 * that has no connection yet.
 */
export async function pauseUnless(stop: Promise<void>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([stop, sleep(milliseconds, undefined, { signal: timer.signal })]);
  timer.abort();
}
