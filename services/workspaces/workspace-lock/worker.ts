import { scrapedGauge } from "@statehouse/runtime";
import type { App } from "../app.ts";

/** The time for which the age of the oldest lock is cached, in ms: its query reads the rows of all workspaces. */
const MAX_AGE_MS = 300_000;

/** Exposes the age of the oldest lock to Prometheus, until the worker is disposed. */
export const startLockAge = (app: App): AsyncDisposable =>
  scrapedGauge("statehouse/workspaces", {
    name: "statehouse_oldest_lock_age_seconds",
    description: "Age of the oldest lock of a workspace; 0 if no workspace is locked",
    maxAgeMs: MAX_AGE_MS,
    async read() {
      const since = await app.reads.workspaces.oldestLock();
      return since ? Math.max(0, app.now().getTime() - since.getTime()) / 1000 : 0;
    },
  });
