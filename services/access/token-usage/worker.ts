import type { Logger } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { writeTokenUsage } from "./app.ts";

export interface TokenUsageOptions {
  app: App;
  /** Interval at which uses are written, in ms: `last-used-at` is delayed at most this long. */
  intervalMs: number;
  logger: Logger;
}

/** Starts a loop that writes the latest uses of tokens in batches. Disposal writes the last batch. */
export function startTokenUsage({ app, intervalMs, logger }: TokenUsageOptions): AsyncDisposable {
  let writing: Promise<void> | undefined;
  let failing = false;

  const write = async (): Promise<void> => {
    try {
      await writeTokenUsage(app);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: error }, "token usage not written");
      failing = true;
    }
  };

  const timer = setInterval(() => {
    writing ??= write().finally(() => {
      writing = undefined;
    });
  }, intervalMs).unref();

  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}
