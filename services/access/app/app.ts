import type { OrganizationId, ProjectId } from "../domain/ids.ts";
import type { Reads } from "../store/reads.ts";
import type { TokenUsage } from "../store/token-usage.ts";
import type { Tx } from "../store/transaction.ts";

/** What the use cases work with. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  tokenUsage: Pick<TokenUsage, "note">;
  /** Asks workspaces; never while a transaction is open. Throws `notFound`. */
  organizationOfProject(projectId: ProjectId): Promise<OrganizationId>;
  now(): Date;
}
