import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "../domain/ids.ts";

/** Where a workspace is: what authorization needs of it. */
export interface Placement {
  organizationId: OrganizationId;
  projectId: ProjectId;
  workspaceId: WorkspaceId;
}

/** The calls to the workspaces service. None is made while a transaction is open. */
export interface WorkspacesClient {
  /** Throws `notFound`. */
  organizationOfProject(projectId: ProjectId): Promise<OrganizationId>;
  /** Throws `notFound`. */
  placementOfWorkspace(workspaceId: WorkspaceId): Promise<Placement>;
  /**
   * The organization of a run that may not be reported yet. Throws `notFound`, and a conflict when the run has ended or
   * belongs to another workspace.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<OrganizationId>;
}
