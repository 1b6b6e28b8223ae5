import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until the time has passed or `stop` resolves. The timer keeps the process alive: nothing else does so in a
 * subscriber that has no connection yet.
 */
export async function pauseUnless(stop: Promise<void>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([stop, sleep(milliseconds, undefined, { signal: timer.signal })]);
  timer.abort();
}
