import type { ConfigurationVersionId, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";

/** A configuration version as its runner last reported it. */
export interface ConfigurationVersion {
  id: ConfigurationVersionId;
  workspaceId: WorkspaceId;
  revision: bigint;
  createdAt: Date;
  /** Only for plans: never the workspace's current one. */
  speculative: boolean;
  /** Of the commit that it came from; null when it came from no repository. */
  commitSha: string | null;
  commitUrl: string | null;
  /** Everything that was reported, as JSON. */
  report: object;
}

/** A configuration version with what authorization decides by. */
export interface ConfigurationVersionView
  extends Pick<ConfigurationVersion, "id" | "workspaceId" | "report"> {
  organizationId: OrganizationId;
  projectId: ProjectId;
}
