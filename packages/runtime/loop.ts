import { isTransient } from "@statehouse/errors";
import { withoutDeadline } from "./deadline.ts";
import type { Logger } from "./logger.ts";
import { withServerSpan } from "./tracing.ts";
import { createWake, type Wake } from "./wake.ts";

export interface LoopOptions {
  /** For spans and logs. */
  name: string;
  intervalMs: number;
  wake?: Wake;
  /** One step; true when there may be more to do at once. A long one looks at `stop` between its parts. */
  work: (stop: AbortSignal) => Promise<boolean>;
  logger: Logger;
}

/**
 * Repeats a piece of work for as long as the service runs. A failure is logged and tried again later;
 * disposal waits for the step in hand.
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
        // The database may be away for a while: that is said once by whoever is asked for it.
        const level = isTransient(error) ? "debug" : "error";
        logger[level]({ err: error, work: name }, "background work failed; it is tried again");
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
