import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "../domain/ids.ts";

/** The placement of a workspace, by which authorization decides. */
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
   * The organization of a run, which may not have been reported yet. Throws `notFound`, and a conflict if the run has
   * ended or belongs to another workspace.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<OrganizationId>;
}
