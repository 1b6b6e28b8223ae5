import { AsyncLocalStorage } from "node:async_hooks";

const deadlines = new AsyncLocalStorage<number>();

/** Runs `work` with a deadline (epoch, ms). A later deadline never extends the current one. */
export function runWithDeadline<T>(epochMs: number, work: () => T): T {
  const outer = deadlines.getStore();
  return deadlines.run(outer === undefined ? epochMs : Math.min(outer, epochMs), work);
}

/** Milliseconds left for the current call, 0 after the deadline, `undefined` without one. */
export function remainingMs(): number | undefined {
  const deadline = deadlines.getStore();
  return deadline === undefined ? undefined : Math.max(0, deadline - Date.now());
}

/** Runs `work` without the caller's deadline, for work that outlives its request. */
export function withoutDeadline<T>(work: () => T): T {
  return deadlines.exit(work);
}
