import { defineService } from "@statehouse/service";
import { startAutoDestroys } from "./auto-destroy/worker.ts";
import { bindings } from "./bindings-rpc.ts";
import { configSchema } from "./config.ts";
import { createApp } from "./create-app.ts";
import { migrations } from "./migrations.ts";
import { entities, listing } from "./nouns.ts";
import { startReconciliation } from "./reconciliation-worker.ts";
import { sealedSshKeys } from "./ssh-key/store.ts";
import { consumers } from "./subscriptions-consumer.ts";
import { startLockAge } from "./workspace-lock/worker.ts";

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
