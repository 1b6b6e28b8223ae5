import { AsyncLocalStorage } from "node:async_hooks";

const deadlines = new AsyncLocalStorage<number>();

/** Runs `work` with a deadline in ms since 1970. A deadline that is later than the current one has no effect. */
export function runWithDeadline<T>(epochMs: number, work: () => T): T {
  const outer = deadlines.getStore();
  return deadlines.run(outer === undefined ? epochMs : Math.min(outer, epochMs), work);
}

/** Returns the milliseconds until the current deadline; 0 after it, `undefined` if there is none. */
export function remainingMs(): number | undefined {
  const deadline = deadlines.getStore();
  return deadline === undefined ? undefined : Math.max(0, deadline - Date.now());
}

/** Runs `work` without the caller's deadline, for work that outlives its request. */
export function withoutDeadline<T>(work: () => T): T {
  return deadlines.exit(work);
}
