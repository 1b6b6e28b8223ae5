import type { OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** A configuration version as last reported by its runner. */
export interface ConfigurationVersion {
  id: ConfigurationVersionId;
  /** The name of the runner that reported it first. */
  runner: string;
  workspaceId: WorkspaceId;
  revision: bigint;
  createdAt: Date;
  /** Used for plans only; it never becomes the workspace's current one. */
  speculative: boolean;
  /** The commit of the configuration; null if it has no repository. */
  commitSha: string | null;
  commitUrl: string | null;
  /** The complete report, as JSON. */
  report: object;
}

/** A configuration version with the target of authorization. */
export interface ConfigurationVersionView
  extends Pick<ConfigurationVersion, "id" | "workspaceId" | "report"> {
  organizationId: OrganizationId;
  projectId: ProjectId;
}

export type ConfigurationVersionId = `cv-${string}`;
