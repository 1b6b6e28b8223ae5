import type { Audit } from "@statehouse/audit";
import type { WorkspacesClient } from "./clients-app.ts";
import type { Reads, Tx } from "./nouns.ts";
import type { TokenUsage } from "./token-usage/app.ts";

/** The dependencies of the use cases. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  tokenUsage: TokenUsage;
  /** Records refused attempts. */
  audit: Audit;
  workspaces: WorkspacesClient;
  settings: Settings;
  now(): Date;
}

export interface Settings {
  /** The maximum lifetime of new tokens, in days; undefined if it is not limited. */
  maxTokenDays: number | undefined;
  runTokenLifetimeMs: number;
}
