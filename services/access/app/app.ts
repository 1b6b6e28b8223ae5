import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "../domain/ids.ts";
import type { Reads } from "../store/reads.ts";
import type { TokenUsage } from "../store/token-usage.ts";
import type { Tx } from "../store/transaction.ts";

/** The dependencies of the use cases. */
export interface App {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  reads: Reads;
  tokenUsage: TokenUsage;
  /** Calls workspaces; never while a transaction is open. Throws `notFound`. */
  organizationOfProject(projectId: ProjectId): Promise<OrganizationId>;
  /**
   * Calls workspaces about a run that may not be reported yet. Throws `notFound`, and a conflict if it has ended or
   * belongs to another workspace.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<OrganizationId>;
  /** Returns the placement of a workspace. */
  placementOfWorkspace(workspaceId: WorkspaceId): Promise<Placement>;
  settings: Settings;
  now(): Date;
}

/** The placement of a workspace, on which authorization decides. */
export interface Placement {
  organizationId: OrganizationId;
  projectId: ProjectId;
  workspaceId: WorkspaceId;
}

export interface Settings {
  /** The longest lifetime of a new token; undefined: unlimited. */
  maxTokenDays: number | undefined;
  runTokenLifetimeMs: number;
}
