import { type Logger, runWithDeadline, startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { publishDueAutoDestroys } from "./app.ts";

interface AutoDestroyOptions {
  app: App;
  intervalMs: number;
  logger: Logger;
}

/** Time limit for one batch, in ms. */
const BATCH_MS = 10_000;

/** Starts a loop that publishes events about due destroy runs at regular intervals. Every replica runs this loop. */
export const startAutoDestroys = ({
  app,
  intervalMs,
  logger,
}: AutoDestroyOptions): AsyncDisposable =>
  startLoop({
    name: "publish due destroy runs",
    intervalMs,
    work: async () =>
      (await runWithDeadline(Date.now() + BATCH_MS, () => publishDueAutoDestroys(app))) > 0,
    logger,
  });
