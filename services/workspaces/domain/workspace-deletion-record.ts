import type { OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** A deletion that state has not acknowledged. Afterwards nothing of it is left but the bare id. */
export interface PendingDeletion {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
}
