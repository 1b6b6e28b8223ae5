import { setTimeout as pause } from "node:timers/promises";
import type { FollowedProcess } from "./follow-process.ts";

/** How long the last output of a program that has ended is awaited, in ms. */
const LAST_OUTPUT_MS = 1000;

interface WaitOptions {
  /** In ms. */
  timeout?: number;
  interval?: number;
  what?: string;
  /** The program that must fulfil the condition. If the program ends, `waitFor` stops waiting and throws. */
  program?: FollowedProcess | undefined;
}

/**
 * Polls `condition` until its result is not false, null or undefined, and returns the result. Ignores errors that
 * `condition` throws. Throws after `timeout` ms (default 60 s), with the error of the last call, if it threw, as the
 * cause. Throws the output of `program` as soon as the program has ended.
 */
export async function waitFor<T>(
  condition: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  { timeout = 60_000, interval = 20, what = "the condition", program }: WaitOptions = {},
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
    if (program && !program.running()) {
      await Promise.race([program.exit, pause(LAST_OUTPUT_MS)]);
      throw new Error(`Waited in vain for ${what}: the program ended.\n${program.output()}`);
    }
    await pause(interval);
  } while (performance.now() < deadline);
  const last = cause instanceof Error ? `; last error: ${cause.message}` : "";
  throw new Error(`Waited ${timeout} ms in vain for ${what}${last}`, { cause });
}
