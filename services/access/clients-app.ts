import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "./ids-domain.ts";

/** The placement of a workspace, which authorization needs. */
export interface Placement {
  organizationId: OrganizationId;
  projectId: ProjectId;
  workspaceId: WorkspaceId;
}

/** The calls that the access service makes to the workspaces service. No call is made while a transaction is open. */
export interface WorkspacesClient {
  /** Throws `notFound`. */
  nameOfOrganization(id: OrganizationId): Promise<string>;
  /** Throws `notFound`. */
  organizationOfProject(projectId: ProjectId): Promise<OrganizationId>;
  /** Throws `notFound`. */
  placementOfWorkspace(workspaceId: WorkspaceId): Promise<Placement>;
  /**
   * Returns the organization of a run, and the runner that has reported the run; the runner is null if the run has not
   * been reported yet. Throws `notFound`, and throws a conflict if the run has ended or belongs to another workspace.
   */
  placeRun(run: { runId: RunId; workspaceId: WorkspaceId }): Promise<{
    organizationId: OrganizationId;
    runner: string | null;
  }>;
  /** Returns the workspaces among `ids` that are deleted. */
  listDeletedWorkspaces(ids: readonly WorkspaceId[]): Promise<WorkspaceId[]>;
  /** Returns the projects among `ids` that are deleted. */
  listDeletedProjects(ids: readonly ProjectId[]): Promise<ProjectId[]>;
  /** Returns the runs among `ids` that have ended. */
  listEndedRuns(ids: readonly RunId[]): Promise<RunId[]>;
}
