import { startLoop } from "@statehouse/runtime";
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
  const quarter = Math.max(MIN_INTERVAL_MS, app.settings.pendingWindowMs / 4);
  const { logger } = app;
  const stack = new AsyncDisposableStack();
  stack.use(
    startLoop({
      name: "discard expired state versions",
      intervalMs: Math.min(INTERVAL_MS, quarter),
      work: async () => (await discardExpiredVersions(app)) > 0,
      logger,
    }),
  );
  stack.use(
    startLoop({
      name: "purge dropped workspaces",
      intervalMs: INTERVAL_MS,
      wake: app.wakes.purge,
      work: () => purgeDroppedWorkspaces(app),
      logger,
    }),
  );
  stack.use(
    startLoop({
      name: "delete expired backing data",
      intervalMs: INTERVAL_MS,
      work: async () => (await deleteExpiredBackingData(app)) > 0,
      logger,
    }),
  );
  return stack;
}
