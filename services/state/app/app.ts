import type { Caller } from "@statehouse/authorization";
import type { Edition, Logger, Wake } from "@statehouse/runtime";
import type { RetentionRules } from "../domain/retention.ts";
import type { UploadTokens } from "../domain/upload-token.ts";
import type { Leases, Reads, Tx } from "../store/nouns.ts";
import type { WorkspacesClient } from "./clients.ts";

export interface Settings {
  /** Base of every URL in documents, without a slash at its end. */
  publicUrl: string;
  /** Largest accepted content, in bytes. */
  maxStateBytes: number;
  /** Lifetime of upload URLs, and of a version without an upload. */
  pendingWindowMs: number;
  /** Age at which a key without a row is deleted. */
  sweepGraceMs: number;
  /** How long bytes remain in the store after they lost their last row. */
  blobDeletionDelayMs: number;
  /** The retention rules of the edition. */
  retentionRules: RetentionRules;
  /** Pause between the end of a retention or verification scan and the start of the next. */
  collectionIntervalMs: number;
  verificationIntervalMs: number;
  /** Time in which soft-deleted contents can be restored. */
  softDeletionMs: number;
}

/** The dependencies of the use cases. */
export interface App {
  /** Other services are never called inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  leases: Leases;
  workspaces: WorkspacesClient;
  /** The caller behind a bearer token, with grants. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Caller>;
  uploadTokens: UploadTokens;
  /** Wake the workers of this process to extract a version, purge a workspace or delete a blob. */
  wakes: { extraction: Wake; purge: Wake; blobDeletion: Wake };
  edition: Edition;
  settings: Settings;
  logger: Logger;
  now(): Date;
}
