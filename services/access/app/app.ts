import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "../domain/ids.ts";
import type { Reads } from "../store/reads.ts";
import type { TokenUsage } from "../store/token-usage.ts";
import type { Tx } from "../store/transaction.ts";

/** What the use cases work with. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  tokenUsage: TokenUsage;
  /** Asks workspaces; never while a transaction is open. Throws `notFound`. */
  organizationOfProject(projectId: ProjectId): Promise<OrganizationId>;
  /**
   * Asks workspaces about a run that may not be reported yet. Throws `notFound`, and a conflict when it has
   * ended or is another workspace's.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<OrganizationId>;
  /** Likewise where a workspace is. */
  placementOfWorkspace(workspaceId: WorkspaceId): Promise<Placement>;
  settings: Settings;
  now(): Date;
}

/** What authorization decides by about a workspace. */
export interface Placement {
  organizationId: OrganizationId;
  projectId: ProjectId;
  workspaceId: WorkspaceId;
}

export interface Settings {
  /** How long a new token may live at most; undefined: as long as its maker wants. */
  maxTokenDays: number | undefined;
  runTokenLifetimeMs: number;
}
