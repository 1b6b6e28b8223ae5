import { AsyncLocalStorage } from "node:async_hooks";

const deadlines = new AsyncLocalStorage<number>();

/** Runs `work` under a deadline (epoch, ms). A deadline further out never extends the one in force. */
export function runWithDeadline<T>(epochMs: number, work: () => T): T {
  const outer = deadlines.getStore();
  return deadlines.run(outer === undefined ? epochMs : Math.min(outer, epochMs), work);
}

/** Milliseconds left for the current call, 0 when it is over, `undefined` when there is no deadline. */
export function remainingMs(): number | undefined {
  const deadline = deadlines.getStore();
  return deadline === undefined ? undefined : Math.max(0, deadline - Date.now());
}

/** Runs `work` outside the caller's deadline: for work that outlives the request that started it. */
export function withoutDeadline<T>(work: () => T): T {
  return deadlines.exit(work);
}
