import { createColumnCipher } from "@statehouse/postgres";
import { edition } from "@statehouse/runtime";
import type { AppDependencies } from "@statehouse/service";
import type { App } from "./app.ts";
import { createAccessClient } from "./clients/access.ts";
import { createStateClient } from "./clients/state.ts";
import type { WorkspacesConfig } from "./config.ts";
import { createEngineVersionResolver } from "./engine-version/app.ts";
import { createLeases, createReads, transactions } from "./nouns.ts";

/** Values that tests can set instead of the defaults. */
export interface WorkspacesOptions {
  /** Interval at which reconciliation searches for overdue work, in ms. */
  reconciliationIntervalMs: number;
  now: () => Date;
}

/** Creates the dependencies of the use cases. */
export const createApp = ({
  config,
  database,
  audit,
  channels,
  identity,
  options: { now = () => new Date() },
}: AppDependencies<WorkspacesConfig, "access" | "state", WorkspacesOptions>): App => ({
  transaction: transactions(database),
  reads: createReads(database),
  leases: createLeases(database),
  audit,
  access: createAccessClient(channels.access, identity),
  state: createStateClient(channels.state, identity),
  cipher: createColumnCipher({ keys: config.SEALING_KEYS }),
  settings: {
    comparisonIntervalMs: config.COMPARISON_INTERVAL * 1000,
    defaultExecutionMode: config.DEFAULT_EXECUTION_MODE,
    engineReleases: config.ENGINE_VERSIONS,
    assessments: edition(config.EDITION).has("workspaces.assessments-enabled"),
  },
  resolveEngineVersion: createEngineVersionResolver(config.ENGINE_VERSIONS),
  now,
});
