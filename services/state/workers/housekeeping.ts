import { type Logger, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { collectDroppedWorkspaces } from "../app/collection.ts";
import { discardExpiredVersions } from "../app/pending-expiry.ts";
import { deleteExpiredBackingData } from "../app/soft-deletion-expiry.ts";

const INTERVAL_MS = 5000;
const SHORTEST_INTERVAL_MS = 250;

/**
 * Discards what waited too long for its bytes, deletes what was soft-deleted long ago, and collects what was
 * dropped. Any number of replicas may.
 */
export function startHousekeeping({ app, logger }: { app: App; logger: Logger }): AsyncDisposable {
  const quarter = Math.max(SHORTEST_INTERVAL_MS, app.settings.pendingWindowMs / 4);
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
      name: "collect dropped workspaces",
      intervalMs: INTERVAL_MS,
      wake: app.wakes.collection,
      work: () => collectDroppedWorkspaces(app),
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
