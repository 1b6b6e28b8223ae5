import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "../domain/ids.ts";
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
  /**
   * Asks workspaces about a run that may not be reported yet. Throws `notFound`, and a conflict when it has
   * ended or is another workspace's.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<OrganizationId>;
  settings: { runTokenLifetimeMs: number };
  now(): Date;
}
