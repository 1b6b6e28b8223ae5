import { AppError } from "@statehouse/errors";
import { type Logger, withServerSpan } from "@statehouse/runtime";
import { createWake, type Wake } from "../app/wake.ts";

export interface LoopOptions {
  /** For spans and logs. */
  name: string;
  intervalMs: number;
  wake?: Wake;
  /** One step; true when there may be more to do at once. */
  work: () => Promise<boolean>;
  logger: Logger;
}

/** Repeats a piece of work for as long as the service runs. A failure is logged and tried again later. */
export function startLoop(options: LoopOptions): AsyncDisposable {
  const { name, intervalMs, wake = createWake(), work, logger } = options;
  const stop = new AbortController();

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      let more = false;
      try {
        more = await withServerSpan(name, undefined, {}, work);
      } catch (error) {
        // The database may be away for a while: that is said once by whoever is asked for it.
        const level = error instanceof AppError && error.kind === "unavailable" ? "debug" : "error";
        logger[level]({ err: error, work: name }, "background work failed; it is tried again");
      }
      if (!more) await wake.next(intervalMs, stop.signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
