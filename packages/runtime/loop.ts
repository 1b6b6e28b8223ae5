import { isTransient } from "@statehouse/errors";
import { withoutDeadline } from "./deadline.ts";
import type { Logger } from "./logger.ts";
import { withServerSpan } from "./tracing.ts";
import { createWake, type Wake } from "./wake.ts";

export interface LoopOptions {
  /** The name in spans and logs. */
  name: string;
  intervalMs: number;
  wake?: Wake;
  /** Runs one step; returns true if more work may be ready. A long step must check `stop` between its parts. */
  work: (stop: AbortSignal) => Promise<boolean>;
  logger: Logger;
}

/**
 * Repeats a step while the service runs. A failure is logged and the step is retried later. Disposal waits for the
 * current step.
 */
export function startLoop(options: LoopOptions): AsyncDisposable {
  const { name, intervalMs, wake = createWake(), work, logger } = options;
  const stop = new AbortController();

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      let more = false;
      try {
        more = await withServerSpan(name, undefined, {}, () => work(stop.signal));
      } catch (error) {
        // Temporary failures are logged at debug level only: usually the database is unavailable, which readiness
        // already reports.
        const level = isTransient(error) ? "debug" : "error";
        logger[level]({ err: error, work: name }, "background work failed; retry scheduled");
      }
      if (!more) await wake.next(intervalMs, stop.signal);
    }
  };
  const running = withoutDeadline(run);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
