import type { AppParts } from "@statehouse/service";
import type { App } from "./app/app.ts";
import type { AccessConfig } from "./config.ts";
import { neighbourOver } from "./rpc/workspaces.ts";
import { readsOf } from "./store/reads.ts";
import { startTokenUsage } from "./store/token-usage.ts";
import { transactions } from "./store/transaction.ts";

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
  logger,
  options: { tokenUsageIntervalMs: intervalMs },
}: AppParts<AccessConfig, "workspaces", AccessOptions>): App => ({
  transaction: transactions(database),
  reads: readsOf(database),
  tokenUsage: startTokenUsage({ database, logger, intervalMs }),
  ...neighbourOver(channels.workspaces, identity),
  settings: {
    maxTokenDays: config.TOKEN_MAX_DAYS,
    runTokenLifetimeMs: config.RUN_TOKEN_LIFETIME * 1000,
  },
  now: () => new Date(),
});
