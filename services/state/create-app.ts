import { unauthenticated } from "@statehouse/errors";
import { createColumnCipher, deriveKey } from "@statehouse/postgres";
import { createWake, derivedFrom, edition } from "@statehouse/runtime";
import type { AppDependencies } from "@statehouse/service";
import type { App } from "./app.ts";
import { createAccessClient } from "./clients/access.ts";
import { createWorkspacesClient } from "./clients/workspaces.ts";
import type { StateConfig } from "./config.ts";
import { createLeases, createReads, transactions } from "./nouns.ts";
import { createUploadTokens } from "./state-version/upload-token-domain.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Creates the dependencies of the use cases. */
export function createApp({
  config,
  database,
  audit,
  channels,
  identity,
  callerOf,
  logger,
}: AppDependencies<StateConfig, "access" | "workspaces">): App {
  const cipher = createColumnCipher({ keys: config.SEALING_KEYS });
  const uploadTokens = derivedFrom(config.UPLOAD_TOKEN_KEYS, createUploadTokens);
  const access = createAccessClient(channels.access, identity);
  const offered = edition(config.EDITION);
  return {
    transaction: transactions(database, cipher),
    reads: createReads(database, cipher),
    leases: createLeases(database),
    audit,
    workspaces: createWorkspacesClient(channels.workspaces, identity),
    access,
    authenticate: async (token) => callerOf(await access.authenticate(token)),
    async authenticateCreator({ createdTokenId }) {
      if (createdTokenId === null) throw unauthenticated();
      return callerOf(await access.authenticateTokenId(createdTokenId));
    },
    uploadTokens: {
      sign: (claims) => uploadTokens().sign(claims),
      verify: (token, now) => uploadTokens().verify(token, now),
    },
    digestKey: derivedFrom(config.SEALING_KEYS, (keys) => deriveKey(keys, "state digests")),
    wakes: { extraction: createWake(), purge: createWake(), blobDeletion: createWake() },
    edition: offered,
    settings: {
      publicUrl: config.PUBLIC_URL,
      maxStateBytes: config.MAX_STATE_BYTES,
      pendingWindowMs: config.PENDING_WINDOW * 1000,
      sweepGraceMs: config.SWEEP_GRACE * 1000,
      blobDeletionDelayMs: config.BLOB_DELETION_DELAY * 1000,
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
}
