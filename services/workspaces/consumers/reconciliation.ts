import { type Logger, runWithDeadline, withoutDeadline, withServerSpan } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { overdueWork } from "../app/reconciliation.ts";

interface ReconciliationOptions {
  app: App;
  intervalMs: number;
  logger: Logger;
}

/** For one unit of work, in ms. */
const UNIT_MS = 10_000;

/** Looks for overdue work now and then, in every replica; disposal waits for the unit in hand. */
export function startReconciliation({
  app,
  intervalMs,
  logger,
}: ReconciliationOptions): AsyncDisposable {
  const stop = Promise.withResolvers<void>();
  let stopped = false;

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await runWithDeadline(Date.now() + UNIT_MS, work);
    } catch (error) {
      logger.warn({ err: error }, "work that spans two services is put off");
    }
  };
  const round = async (): Promise<void> => {
    // Again until there is none: a large deletion is done part by part.
    for (let overdue = await overdueWork(app); overdue.length > 0; ) {
      for (const work of overdue) {
        if (stopped) return;
        await attempt(work);
      }
      overdue = await overdueWork(app);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      await withServerSpan("reconcile workspaces", undefined, {}, () => attempt(round));
      await Promise.race([stop.promise, delay(intervalMs)]);
    }
  };
  const running = withoutDeadline(run);

  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      stop.resolve();
      await running;
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
