import type { Logger } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { writeTokenUsage } from "../app/token-usage.ts";

export interface TokenUsageOptions {
  app: App;
  /** The longest delay of `last-used-at`, in ms. */
  intervalMs: number;
  logger: Logger;
}

/** Writes the latest uses of tokens in batches, and the last batch when it is disposed. */
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
