import { type Logger, runWithDeadline, withoutDeadline } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { tellDueAutoDestroys } from "../app/auto-destroy.ts";

interface AutoDestroyOptions {
  app: App;
  intervalMs: number;
  logger: Logger;
}

/** For one batch, in ms. */
const BATCH_MS = 10_000;

/** Looks for destroy runs that are due, now and then, in every replica; disposal waits for the batch in hand. */
export function startAutoDestroys({
  app,
  intervalMs,
  logger,
}: AutoDestroyOptions): AsyncDisposable {
  const stop = Promise.withResolvers<void>();
  let stopped = false;
  let failing = false;

  const round = async (): Promise<void> => {
    try {
      let told: number;
      do told = await runWithDeadline(Date.now() + BATCH_MS, () => tellDueAutoDestroys(app));
      while (told > 0 && !stopped);
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: error }, "destroy runs that are due are told of later");
      failing = true;
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      await round();
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
