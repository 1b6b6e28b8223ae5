import { startLoop } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { recordHeartbeat } from "./app.ts";

const INTERVAL_MS = 60_000;

/**
 * Records once a minute that the database is in use, until the worker is disposed. A gap between two heartbeats, or a
 * changed identity of the database, means that the database may have been restored.
 */
export const startHeartbeat = (app: App): AsyncDisposable =>
  startLoop({
    name: "record heartbeats",
    intervalMs: INTERVAL_MS,
    work: async () => {
      await recordHeartbeat(app);
      return false;
    },
    logger: app.logger,
  });
