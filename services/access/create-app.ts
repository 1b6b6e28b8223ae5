import type { AppDependencies } from "@statehouse/service";
import type { App } from "./app/app.ts";
import { createTokenUsage } from "./app/token-usage.ts";
import { createWorkspacesClient } from "./clients/workspaces.ts";
import type { AccessConfig } from "./config.ts";
import { createReads, transactions } from "./store/nouns.ts";

/** Values that a test sets instead of the defaults. */
export interface AccessOptions {
  /** The longest delay of `last-used-at`, in ms. */
  tokenUsageIntervalMs: number;
}

/** The dependencies of the use cases. */
export const createApp = ({
  config,
  database,
  channels,
  identity,
}: AppDependencies<AccessConfig, "workspaces", AccessOptions>): App => ({
  transaction: transactions(database),
  reads: createReads(database),
  tokenUsage: createTokenUsage(),
  workspaces: createWorkspacesClient(channels.workspaces, identity),
  settings: {
    maxTokenDays: config.TOKEN_MAX_DAYS,
    runTokenLifetimeMs: config.RUN_TOKEN_LIFETIME * 1000,
  },
  now: () => new Date(),
});
