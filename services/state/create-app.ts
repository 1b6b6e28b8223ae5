import type { Caller, Principal } from "@statehouse/authorization";
import { createSealer, type Database } from "@statehouse/postgres";
import {
  type Channel,
  createCallers,
  grantsFromAccess,
  type ServiceIdentity,
} from "@statehouse/rpc";
import { ConfigError, createWake, edition, type Logger } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import type { StateConfig } from "./config.ts";
import { createUploadTokens } from "./domain/upload-token.ts";
import { authenticationOver } from "./rpc/authentication.ts";
import { workspacesOver } from "./rpc/workspaces.ts";
import { createJobs } from "./store/jobs.ts";
import { createPasses } from "./store/passes.ts";
import { createReads } from "./store/reads.ts";
import { createRetentionReads } from "./store/retention.ts";
import { transactions } from "./store/transaction.ts";

const DAY_MS = 24 * 60 * 60_000;

export interface AppParts {
  database: Database;
  channels: { access: Channel; workspaces: Channel };
  identity: ServiceIdentity;
  logger: Logger;
}

/** What the use cases need, and who calls them. Throws `ConfigError` on unusable keys. */
export function createApp(
  config: StateConfig,
  { database, channels, identity, logger }: AppParts,
): { app: App; callerOf: (principal: Principal) => Promise<Caller> } {
  const sealer = usable("SEALING_KEYS", () => createSealer({ keys: config.SEALING_KEYS }));
  const callerOf = createCallers(grantsFromAccess(channels.access, identity));
  const offered = edition(config.EDITION);
  const app: App = {
    transaction: transactions(database, sealer),
    reads: createReads(database, sealer),
    jobs: createJobs(database),
    retention: createRetentionReads(database),
    passes: createPasses(database),
    workspaces: workspacesOver(channels.workspaces, identity),
    authenticate: authenticationOver(channels.access, identity, callerOf),
    uploadTokens: usable("UPLOAD_TOKEN_KEYS", () => createUploadTokens(config.UPLOAD_TOKEN_KEYS)),
    wakes: { extraction: createWake(), collection: createWake(), deletion: createWake() },
    edition: offered,
    settings: {
      publicUrl: config.PUBLIC_URL,
      maxStateBytes: config.MAX_STATE_BYTES,
      pendingWindowMs: config.PENDING_WINDOW * 1000,
      sweepGraceMs: config.SWEEP_GRACE * 1000,
      retentionRules: {
        policies: offered.has("data-retention-policies"),
        freeTier: offered.has("free-tier.state-retention"),
      },
      collectionIntervalMs: config.COLLECTION_INTERVAL * 1000,
      verificationIntervalMs: config.VERIFICATION_INTERVAL * 1000,
      softDeletionMs: config.SOFT_DELETED_DAYS * DAY_MS,
    },
    logger,
    now: () => new Date(),
  };
  return { app, callerOf };
}

function usable<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new ConfigError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
