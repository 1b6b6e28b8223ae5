import { setTimeout as sleep } from "node:timers/promises";

export interface RetryOptions {
  /** Maximum number of attempts. */
  attempts: number;
  /** Returns false for failures that a retry cannot resolve. */
  isRetryable?: (error: unknown, attempt: number) => boolean;
  /**
   * Returns the pause before the next attempt, in ms. Default: no pause. `attempt` is the number of the failed attempt,
   * from 1.
   */
  pauseMs?: (attempt: number) => number;
  signal?: AbortSignal;
}

// Not p-retry: it computes the pauses itself, and callers need their own.
/**
 * Runs `work` until it succeeds, at most `attempts` times. Throws the error of the last attempt. An error for which
 * `isRetryable` returns false is thrown immediately.
 */
export async function withRetry<T>(
  { attempts, isRetryable = () => true, pauseMs = () => 0, signal }: RetryOptions,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= attempts || signal?.aborted || !isRetryable(error, attempt)) throw error;
      const pause = pauseMs(attempt);
      if (pause === 0) continue;
      await sleep(pause, undefined, signal ? { signal } : {}).catch(() => {
        throw error;
      });
    }
  }
}
