import { createSealer, type Database, newId } from "@statehouse/postgres";
import type { CallOptions, Channel } from "@statehouse/rpc";
import { edition } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import { createAccessClient } from "./clients/access.ts";
import { createStateClient } from "./clients/state.ts";
import type { WorkspacesConfig } from "./config.ts";
import { deletionLocks } from "./store/deletion-lock.ts";
import { pendingSyncsOf } from "./store/pending-sync.ts";
import { readsOf } from "./store/reads.ts";
import { stateComparisons } from "./store/state-comparison.ts";
import { transactions } from "./store/transaction.ts";

export interface AppParts {
  database: Database;
  channels: { access: Channel; state: Channel };
  identity: CallOptions;
  now?: (() => Date) | undefined;
}

/** What the use cases need. */
export const createApp = (
  config: WorkspacesConfig,
  { database, channels, identity, now = () => new Date() }: AppParts,
): App => ({
  transaction: transactions(database),
  reads: readsOf(database),
  pendingSyncs: pendingSyncsOf(database),
  stateComparisons: stateComparisons(database),
  deletionLocks: deletionLocks(database),
  access: createAccessClient(channels.access, identity),
  state: createStateClient(channels.state, identity),
  sealer: createSealer({ keys: config.SEALING_KEYS }),
  settings: {
    comparisonIntervalMs: config.COMPARISON_INTERVAL * 1000,
    defaultExecutionMode: config.DEFAULT_EXECUTION_MODE,
    engineReleases: config.ENGINE_VERSIONS,
    assessments: edition(config.EDITION).has("workspaces.assessments-enabled"),
  },
  now,
  newId,
});
