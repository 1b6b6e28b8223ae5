import type { Placed, WorkspaceId } from "../ids-domain.ts";

/** The README.md of a workspace's configuration. */
export interface WorkspaceReadme {
  workspaceId: WorkspaceId;
  rawMarkdown: string;
}

/** A readme with the organization and project that authorization needs. */
export interface WorkspaceReadmeView extends WorkspaceReadme, Placed {}
