import type { Sealer, TransactionMode } from "@statehouse/postgres";
import type { ExecutionMode } from "../domain/execution.ts";
import type { Leases, Reads, Tx } from "../store/nouns.ts";
import type { AccessClient, StateClient } from "./clients.ts";

/** The dependencies of the use cases. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T>;
  reads: Reads;
  leases: Leases;
  /** Other services are never called while a transaction is open. */
  access: AccessClient;
  state: StateClient;
  /** Encrypts columns that are stored and never shown. */
  sealer: Pick<Sealer, "seal">;
  settings: Settings;
  /** The known release that an engine version or constraint selects; null if none matches. */
  resolveEngineVersion(text: string): string | null;
  now(): Date;
}

export interface Settings {
  /** The defaults of new organizations. */
  defaultExecutionMode: ExecutionMode;
  /** Known releases of the engine, in any order. */
  engineReleases: readonly string[];
  /** Whether the edition has health assessments. */
  assessments: boolean;
  /** Pause between the end of one comparison with state and the start of the next. */
  comparisonIntervalMs: number;
}
