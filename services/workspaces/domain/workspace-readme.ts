import type { OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** The README.md of a workspace's configuration. */
export interface WorkspaceReadme {
  workspaceId: WorkspaceId;
  rawMarkdown: string;
}

/** A readme with the target of authorization. */
export interface WorkspaceReadmeView extends WorkspaceReadme {
  organizationId: OrganizationId;
  projectId: ProjectId;
}
