import { type LoopOptions, startLoop } from "@statehouse/runtime";
import type { App } from "./app.ts";
import { deleteExpiredBackingData } from "./backing-data/app.ts";
import { discardExpiredVersions } from "./discarded-version/app.ts";
import { purgeDroppedWorkspaces } from "./workspace-state/app.ts";

const INTERVAL_MS = 5000;
const MIN_INTERVAL_MS = 250;

/**
 * Runs housekeeping until the worker is disposed; any number of replicas can run it concurrently. It discards versions
 * whose upload window has ended, deletes soft-deleted contents permanently after their restoration period, and purges
 * dropped workspaces.
 */
export function startHousekeeping(app: App): AsyncDisposable {
  const { logger, settings, wakes } = app;
  const stack = new AsyncDisposableStack();
  const start = (
    name: string,
    work: () => Promise<boolean>,
    more: Partial<Pick<LoopOptions, "intervalMs" | "wake">> = {},
  ) => stack.use(startLoop({ name, work, intervalMs: INTERVAL_MS, logger, ...more }));
  const quarter = Math.max(MIN_INTERVAL_MS, settings.pendingWindowMs / 4);
  start("discard expired state versions", async () => (await discardExpiredVersions(app)) > 0, {
    intervalMs: Math.min(INTERVAL_MS, quarter),
  });
  start("purge dropped workspaces", () => purgeDroppedWorkspaces(app), { wake: wakes.purge });
  start("delete expired backing data", async () => (await deleteExpiredBackingData(app)) > 0);
  return stack;
}
