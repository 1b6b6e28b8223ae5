import { defineService } from "@statehouse/service";
import { createFirstAdministrator } from "./commands/first-administrator.ts";
import { configSchema } from "./config.ts";
import { consumers } from "./consumers/consumers.ts";
import { createApp } from "./create-app.ts";
import { bindings } from "./rpc/bindings.ts";
import { loadGrants } from "./rpc/grants.ts";
import { migrations } from "./store/migrations.ts";
import { entities, listing } from "./store/nouns.ts";
import { startTokenUsage } from "./workers/token-usage.ts";

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
