import type { Placed, WorkspaceId } from "../ids-domain.ts";

/** A configuration version in the form of its last report. */
export interface ConfigurationVersion {
  id: ConfigurationVersionId;
  /** The name of the runner that first reported this configuration version. */
  runner: string;
  workspaceId: WorkspaceId;
  revision: bigint;
  createdAt: Date;
  /** A speculative configuration version is used for plans only and never becomes the workspace's current one. */
  speculative: boolean;
  /** The commit of the configuration; null if the configuration does not come from a repository. */
  commitSha: string | null;
  commitUrl: string | null;
  /** The complete report, as JSON. */
  report: object;
}

/** A configuration version, with the organization and project that authorization needs. */
export interface ConfigurationVersionView
  extends Pick<ConfigurationVersion, "id" | "workspaceId" | "report">,
    Placed {}

export type ConfigurationVersionId = `cv-${string}`;
