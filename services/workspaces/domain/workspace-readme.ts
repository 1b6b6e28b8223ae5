import type { OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** The README.md of a workspace's configuration. */
export interface WorkspaceReadme {
  workspaceId: WorkspaceId;
  rawMarkdown: string;
}

/** A readme with what authorization decides by. */
export interface WorkspaceReadmeView extends WorkspaceReadme {
  organizationId: OrganizationId;
  projectId: ProjectId;
}
