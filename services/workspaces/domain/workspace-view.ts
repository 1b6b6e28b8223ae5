import type { DataRetentionPolicyView } from "./data-retention-policy.ts";
import type { ExecutionMode } from "./execution-mode.ts";
import type { Performance } from "./performance.ts";
import type { Workspace } from "./workspace.ts";

type Shown = Omit<
  Workspace,
  | "executionMode"
  | "agentPoolId"
  | "deletionLock"
  | "lastLockEpoch"
  | "placementVersion"
  | "placementAcknowledged"
  | "retryAt"
  | "stateRevision"
  | "revision"
>;

/** A workspace as it is shown, with what it inherits and what belongs to it. */
export interface WorkspaceView extends Shown {
  organizationName: string;
  /** The organization's setting: workspace admins may force the deletion. */
  allowForceDelete: boolean;
  /** The effective one. */
  executionMode: ExecutionMode;
  overwritesExecutionMode: boolean;
  /** The effective one: it belongs to whatever says the mode. */
  agentPoolId: Workspace["agentPoolId"];
  /** Flat tags, by name. */
  tagNames: string[];
  /** What runners report; null while nothing was reported. */
  currentRunId: string | null;
  latestRunId: string | null;
  currentConfigurationVersionId: string | null;
  hasReadme: boolean;
  /** Its own; null: what the organization or the site says. */
  dataRetentionPolicy: DataRetentionPolicyView | null;
  /** Null while no run has errored or was applied. */
  performance: Performance | null;
}

/** How a request addresses a workspace. */
export type WorkspaceRef =
  | { id: Workspace["id"] }
  | { organizationName: string; workspaceName: string };
