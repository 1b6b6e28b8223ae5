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
   * The organization of a run, which may not have been reported yet, and the runner that has reported it. Throws
   * `notFound`, and a conflict if the run has ended or belongs to another workspace.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<{
    organizationId: OrganizationId;
    runner: string | null;
  }>;
  /** Those of the workspaces that are deleted. */
  listDeletedWorkspaces(ids: readonly WorkspaceId[]): Promise<WorkspaceId[]>;
  /** Those of the projects that exist. */
  listExistingProjects(ids: readonly ProjectId[]): Promise<string[]>;
  /** Those of the runs that have ended. */
  listEndedRuns(ids: readonly RunId[]): Promise<RunId[]>;
}
