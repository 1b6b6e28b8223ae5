import type { AppDependencies } from "@statehouse/service";
import type { App } from "./app.ts";
import { createWorkspacesClient } from "./clients/workspaces.ts";
import type { AccessConfig } from "./config.ts";
import { createReads, transactions } from "./nouns.ts";
import { createTokenUsage } from "./token-usage/app.ts";

/** Values that tests can set instead of the defaults. */
export interface AccessOptions {
  /** Interval at which token uses are written, in ms: `last-used-at` is delayed at most this long. */
  tokenUsageIntervalMs: number;
}

/** Creates the dependencies of the use cases. */
export const createApp = ({
  config,
  database,
  audit,
  channels,
  identity,
}: AppDependencies<AccessConfig, "workspaces", AccessOptions>): App => ({
  transaction: transactions(database),
  reads: createReads(database),
  tokenUsage: createTokenUsage(),
  audit,
  workspaces: createWorkspacesClient(channels.workspaces, identity),
  settings: {
    maxTokenDays: config.TOKEN_MAX_DAYS,
    runTokenLifetimeMs: config.RUN_TOKEN_LIFETIME * 1000,
  },
  now: () => new Date(),
});
