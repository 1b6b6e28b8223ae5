import { defineService } from "@statehouse/service";
import { bindings } from "./bindings-rpc.ts";
import { configSchema } from "./config.ts";
import { createApp } from "./create-app.ts";
import { loadGrants } from "./grants/rpc.ts";
import { migrations } from "./migrations.ts";
import { entities, listing } from "./nouns.ts";
import { consumers } from "./subscriptions-consumer.ts";
import { startTokenUsage } from "./token-usage/worker.ts";
import { createFirstAdministrator } from "./user/first-administrator-command.ts";

/** Interval at which token uses are written, in ms: `last-used-at` is delayed at most this long. */
const TOKEN_USAGE_INTERVAL_MS = 5000;

/** The access service: users, tokens, teams and their grants. */
export const service = defineService({
  name: "access",
  config: configSchema,
  entities,
  migrations,
  clients: ["workspaces"],
  app: createApp,
  grants: loadGrants,
  bindings,
  listing,
  consumers,
  workers: ({ app, logger, options }) => [
    startTokenUsage({
      app,
      intervalMs: options.tokenUsageIntervalMs ?? TOKEN_USAGE_INTERVAL_MS,
      logger,
    }),
  ],
  afterMigration: createFirstAdministrator,
});
