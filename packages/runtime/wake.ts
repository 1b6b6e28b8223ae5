/** Lets code of this process make a waiting worker check for work before its next poll. */
export interface Wake {
  wake(): void;
  /**
   * Resolves after `ms`, when `wake` is called or when `signal` is aborted. Resolves immediately if `wake` was called
   * since the previous wait.
   */
  next(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createWake(): Wake {
  let woken = Promise.withResolvers<void>();
  return {
    wake: () => woken.resolve(),
    async next(ms, signal) {
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(over.resolve, ms);
      const abort = () => over.resolve();
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      await Promise.race([woken.promise, over.promise]);
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      woken = Promise.withResolvers();
    },
  };
}
