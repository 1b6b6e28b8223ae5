import type { Audit } from "@statehouse/audit";
import type { ColumnCipher, TransactionMode } from "@statehouse/postgres";
import type { AccessClient, StateClient } from "./clients-app.ts";
import type { ExecutionMode } from "./execution/domain.ts";
import type { Leases, Reads, Tx } from "./nouns.ts";

/** The dependencies of the use cases. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T>;
  reads: Reads;
  leases: Leases;
  /** Removes the client addresses of deleted users from the audit trail. */
  audit: Pick<Audit, "removeAddresses">;
  /** Clients of other services. They are never called while a transaction is open. */
  access: AccessClient;
  state: StateClient;
  /** Encrypts columns whose values are never returned to callers. */
  cipher: Pick<ColumnCipher, "encryptColumn">;
  settings: Settings;
  /** Returns the known release that an engine version, constraint or `latest` selects; null if none matches. */
  resolveEngineVersion(text: string): string | null;
  now(): Date;
}

export interface Settings {
  /** The default execution mode of new organizations. */
  defaultExecutionMode: ExecutionMode;
  /** Known releases of Terraform or OpenTofu, in any order. */
  engineReleases: readonly string[];
  /** Whether the edition (self-hosted or hosted) includes health assessments. */
  assessments: boolean;
  /** Pause between the end of one comparison with the state service and the start of the next, in ms. */
  comparisonIntervalMs: number;
}
