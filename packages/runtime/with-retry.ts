import { setTimeout as sleep } from "node:timers/promises";

export interface RetryOptions {
  /** Maximum number of attempts. */
  attempts: number;
  /** False for failures that repeating cannot resolve. */
  isRetryable?: (error: unknown, attempt: number) => boolean;
  /** Pause before the next attempt, in ms. Default: none. `attempt` is the failed one, from 1. */
  pauseMs?: (attempt: number) => number;
  signal?: AbortSignal;
}

/**
 * Repeats `work` until it succeeds. Throws the last error after the last attempt, or an error that is not retryable
 * immediately.
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
