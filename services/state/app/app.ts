import type { Caller } from "@statehouse/authorization";
import type { Edition, Logger, Wake } from "@statehouse/runtime";
import type { WorkspaceId } from "../domain/ids.ts";
import type { RetentionAnswer, RetentionRules } from "../domain/retention.ts";
import type { UploadTokens } from "../domain/upload-token.ts";
import type { LockAnswer, Placement } from "../domain/workspace-state.ts";
import type { Jobs } from "../store/jobs.ts";
import type { Passes } from "../store/passes.ts";
import type { Reads } from "../store/reads.ts";
import type { RetentionReads } from "../store/retention.ts";
import type { Transactions } from "../store/transaction.ts";

/** What state asks of workspaces; never while a transaction is open. */
export interface Workspaces {
  /** Who holds the workspace's lock, and whose the run is. Throws `notFound` when there is no such workspace. */
  getLock(workspaceId: WorkspaceId, runId?: string): Promise<LockAnswer>;
  /** Where the workspace belongs. Throws `notFound` when there is no such workspace. */
  getPlacement(workspaceId: WorkspaceId): Promise<Placement>;
  /** What counts for those of the workspaces that there are. */
  retentionOf(workspaceIds: readonly WorkspaceId[]): Promise<Omit<RetentionAnswer, "askedAt">>;
  /** Those of the workspaces whose state a run of `consumerId` may read; none once it has ended. */
  readableByRun(question: {
    runId: string;
    consumerId: string;
    workspaceIds: readonly string[];
  }): Promise<ReadonlySet<string>>;
}

export interface Settings {
  /** Base of every URL that documents show, without a slash at its end. */
  publicUrl: string;
  /** Largest content that is taken, in bytes. */
  maxStateBytes: number;
  /** How long a version waits for its bytes and its upload URLs work. */
  pendingWindowMs: number;
  /** Age at which a key without owner is swept. */
  sweepGraceMs: number;
  /** Which rules of retention there are. */
  retentionRules: RetentionRules;
  /** Between the end of one pass of the collector, or of the verification of blobs, and the next. */
  collectionIntervalMs: number;
  verificationIntervalMs: number;
  /** How long soft-deleted contents can be restored. */
  softDeletionMs: number;
}

/** Everything that the use cases need. */
export interface App {
  /** No RPC inside. */
  transaction: Transactions;
  reads: Reads;
  jobs: Jobs;
  retention: RetentionReads;
  passes: Passes;
  workspaces: Workspaces;
  /** Whom a bearer token speaks for, with grants. Throws `unauthenticated`. */
  authenticate(token: string): Promise<Caller>;
  uploadTokens: UploadTokens;
  /** For the workers of this process: a version waits for extraction, a workspace for collection, a blob for deletion. */
  wakes: { extraction: Wake; collection: Wake; deletion: Wake };
  edition: Edition;
  settings: Settings;
  logger: Logger;
  now(): Date;
}
