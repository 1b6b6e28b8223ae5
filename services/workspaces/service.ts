import { defineService } from "@statehouse/service";
import { configSchema } from "./config.ts";
import { consumers } from "./consumers/consumers.ts";
import { createApp } from "./create-app.ts";
import { bindings } from "./rpc/bindings.ts";
import { migrations } from "./store/migrations.ts";
import { entities, listing } from "./store/nouns.ts";
import { sealedSshKeys } from "./store/ssh-key.ts";
import { startAutoDestroys } from "./workers/auto-destroy.ts";
import { startLockAge } from "./workers/lock-age.ts";
import { startReconciliation } from "./workers/reconciliation.ts";

const RECONCILIATION_INTERVAL_MS = 30_000;
/**
 * Interval of the search for due destroy runs, in ms. An event about a due run is usually delayed by at most this time.
 */
const AUTO_DESTROY_INTERVAL_MS = 5000;

/** The workspaces service: organizations, projects, workspaces, locks and tags. */
export const service = defineService({
  name: "workspaces",
  config: configSchema,
  entities,
  migrations,
  clients: ["access", "state"],
  app: createApp,
  bindings,
  listing,
  consumers,
  workers: ({ app, logger, options }) => [
    startReconciliation({
      app,
      intervalMs: options.reconciliationIntervalMs ?? RECONCILIATION_INTERVAL_MS,
      logger,
    }),
    startAutoDestroys({ app, intervalMs: AUTO_DESTROY_INTERVAL_MS, logger }),
    startLockAge(app),
  ],
  sealedColumns: [sealedSshKeys],
});
