import type { Audit } from "@statehouse/audit";
import type { Caller } from "@statehouse/authorization";
import type { Edition, Logger, Wake } from "@statehouse/runtime";
import type { AccessClient, WorkspacesClient } from "./clients-app.ts";
import type { Leases, Reads, Tx } from "./nouns.ts";
import type { RetentionRules } from "./retention/domain.ts";
import type { DigestKey } from "./state-digest/domain.ts";
import type { Creator } from "./state-version/domain.ts";
import type { UploadTokens } from "./state-version/upload-token-domain.ts";

export interface Settings {
  /** Base of every URL in documents, without a trailing slash. */
  publicUrl: string;
  /** Largest accepted state or JSON form, in bytes. */
  maxStateBytes: number;
  /** How long upload URLs are valid. A version whose state was not uploaded in this time is discarded. */
  pendingWindowMs: number;
  /**
   * How long after the start of an upload the sweeper keeps its bytes if they have no row. The sweeper deletes them
   * only when `blobDeletionDelayMs` has also passed.
   */
  sweepGraceMs: number;
  /** How long bytes remain in the store after the last version that referred to them was deleted. */
  blobDeletionDelayMs: number;
  /** The retention rules of the edition. */
  retentionRules: RetentionRules;
  /** Pause between the end of a retention scan and the start of the next. */
  collectionIntervalMs: number;
  /** Pause between the end of a verification scan and the start of the next. */
  verificationIntervalMs: number;
  /** How long soft-deleted contents can be restored. */
  softDeletionMs: number;
}

/** The dependencies of the use cases. */
export interface App {
  /** Runs `work` in one transaction. `work` must not call other services. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  leases: Leases;
  /** Records reads of state and refused attempts. */
  audit: Audit;
  workspaces: WorkspacesClient;
  access: Pick<AccessClient, "userExists">;
  /** Returns the caller that a bearer token identifies, with its grants. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Caller>;
  /**
   * Returns the creator of a state version as a caller with its current grants. Throws `unauthenticated` or `notFound`.
   */
  authenticateCreator(creator: Creator): Promise<Caller>;
  uploadTokens: UploadTokens;
  /** The current key for digests of states. Versions are compared by these digests. */
  digestKey: () => DigestKey;
  /**
   * Each makes one worker of this process check for work at once: the worker that extracts versions, the worker that
   * purges workspaces, or the worker that deletes blobs.
   */
  wakes: { extraction: Wake; purge: Wake; blobDeletion: Wake };
  edition: Edition;
  settings: Settings;
  logger: Logger;
  now(): Date;
}
