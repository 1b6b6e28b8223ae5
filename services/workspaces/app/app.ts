import type { Sealer, TransactionMode } from "@statehouse/postgres";
import type { ExecutionMode } from "../domain/execution.ts";
import type { NewId } from "../domain/ids.ts";
import type { deletionLocks } from "../store/deletion-lock.ts";
import type { PendingSyncs } from "../store/pending-sync.ts";
import type { Reads } from "../store/reads.ts";
import type { StateComparisons } from "../store/state-comparison.ts";
import type { Tx } from "../store/transaction.ts";
import type { AccessClient, StateClient } from "./clients.ts";

/** What the use cases work with. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T>;
  reads: Reads;
  pendingSyncs: PendingSyncs;
  stateComparisons: StateComparisons;
  deletionLocks: ReturnType<typeof deletionLocks>;
  /** The neighbours are never called while a transaction is open. */
  access: AccessClient;
  state: StateClient;
  /** Of what is kept but never shown. */
  sealer: Pick<Sealer, "seal">;
  settings: Settings;
  now(): Date;
  newId: NewId;
}

export interface Settings {
  /** What new organizations start with. */
  defaultExecutionMode: ExecutionMode;
  /** Known releases of the engine, in any order. */
  engineReleases: readonly string[];
  /** Whether the edition has health assessments. */
  assessments: boolean;
  /** Between the end of one comparison with state and the beginning of the next. */
  comparisonIntervalMs: number;
}
