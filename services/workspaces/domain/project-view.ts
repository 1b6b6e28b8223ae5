import type { ExecutionMode } from "./execution-mode.ts";
import type { Project } from "./project.ts";

/** A project as it is shown. */
export interface ProjectView
  extends Pick<Project, "id" | "organizationId" | "name" | "description" | "createdAt"> {
  organizationName: string;
  /** Null to who may not read all of them. */
  workspaceCount: number | null;
  isDefault: boolean;
  /** What its workspaces inherit: its own mode, or else the organization's. */
  defaultExecutionMode: ExecutionMode;
  overwritesDefaultExecutionMode: boolean;
  /** With the mode `agent`. */
  defaultAgentPoolId: Project["defaultAgentPoolId"];
}
