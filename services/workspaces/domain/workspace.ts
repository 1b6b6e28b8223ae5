import { nextVersion } from "@statehouse/events/version";
import type { DataRetentionPolicyView } from "./data-retention-policy.ts";
import type { ExecutionMode } from "./execution.ts";
import type { AgentPoolId, OrganizationId, ProjectId, SshKeyId, WorkspaceId } from "./ids.ts";
import type { Performance } from "./performance.ts";
import type { VcsRepo } from "./vcs-repo.ts";
import type { DeletionLock, WorkspaceLock } from "./workspace-lock.ts";

export class Workspace {
  declare id: WorkspaceId;
  declare organizationId: OrganizationId;
  declare projectId: ProjectId;
  declare name: string;
  declare description: string | null;
  declare allowDestroyPlan: boolean;
  /** Hosted edition only. */
  declare assessmentsEnabled: boolean;
  declare autoApply: boolean;
  declare autoApplyRunTrigger: boolean;
  declare autoDestroyAt: Date | null;
  declare autoDestroyActivityDuration: string | null;
  /** Its own; null: what project and organization say. */
  declare executionMode: ExecutionMode | null;
  /** Of its own mode `agent`; null: none, or what project and organization say. */
  declare agentPoolId: AgentPoolId | null;
  declare sshKeyId: SshKeyId | null;
  declare overwritesAgentPool: boolean;
  declare fileTriggersEnabled: boolean;
  declare globalRemoteState: boolean;
  /** Workspaces of the same project may read its state during runs. */
  declare projectRemoteState: boolean;
  declare queueAllRuns: boolean;
  declare sourceName: string | null;
  declare sourceUrl: string | null;
  declare speculativeEnabled: boolean;
  declare structuredRunOutputEnabled: boolean;
  declare engineVersion: string;
  declare triggerPatterns: string[];
  declare triggerPrefixes: string[];
  declare vcsRepo: VcsRepo | null;
  declare workingDirectory: string | null;
  declare lock: WorkspaceLock | null;
  declare deletionLock: DeletionLock | null;
  declare lastLockEpoch: bigint;
  /** Of organization and project; grows when the workspace moves. */
  declare placementVersion: bigint;
  /** The highest placement version that state has acknowledged. */
  declare placementAcknowledged: bigint;
  /** When a placement that state has not acknowledged is sent again by whoever looks. */
  declare retryAt: Date;
  declare currentStateVersionId: string | null;
  declare resourceCount: number;
  declare latestChangeAt: Date | null;
  declare stateRevision: bigint;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof Workspace]: Workspace[Name] };

export interface NewWorkspace {
  id: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  engineVersion: string;
}

/** A workspace with every default of the specification's table; its name is still to be set. */
export function newWorkspace(wanted: NewWorkspace, now: Date): Workspace {
  const version = nextVersion(0n, now);
  return new Workspace({
    ...wanted,
    name: "",
    description: null,
    allowDestroyPlan: true,
    assessmentsEnabled: false,
    autoApply: false,
    autoApplyRunTrigger: false,
    autoDestroyAt: null,
    autoDestroyActivityDuration: null,
    executionMode: null,
    agentPoolId: null,
    sshKeyId: null,
    overwritesAgentPool: false,
    fileTriggersEnabled: true,
    globalRemoteState: false,
    projectRemoteState: false,
    queueAllRuns: false,
    sourceName: null,
    sourceUrl: null,
    speculativeEnabled: true,
    structuredRunOutputEnabled: true,
    triggerPatterns: [],
    triggerPrefixes: [],
    vcsRepo: null,
    workingDirectory: null,
    lock: null,
    deletionLock: null,
    lastLockEpoch: 0n,
    placementVersion: version,
    // State has nothing to forget yet: it asks for the placement when it first hears of the workspace.
    placementAcknowledged: version,
    retryAt: now,
    currentStateVersionId: null,
    resourceCount: 0,
    latestChangeAt: null,
    stateRevision: 0n,
    revision: version,
    createdAt: now,
    updatedAt: now,
  });
}

/** Marks a change that others may see. */
export function touch(workspace: Workspace, now: Date): void {
  workspace.revision = nextVersion(workspace.revision, now);
  workspace.updatedAt = now;
}

/** The public service's limit; far below what an index row can hold. */
const MAX_LENGTH = 90;
const CHARACTERS = /^[A-Za-z0-9_-]+$/;

/** Whether a workspace can have this name at all. */
export const isWorkspaceName = (name: string): boolean =>
  problemOfWorkspaceName(name) === undefined;

/** What is wrong with a name, in the words that clients show. */
export function problemOfWorkspaceName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  if (!CHARACTERS.test(name)) return "Name is invalid";
  if (name.length > MAX_LENGTH) return `Name is too long (maximum is ${MAX_LENGTH} characters)`;
  return undefined;
}

type ShownFields = Omit<
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
export interface WorkspaceView extends ShownFields {
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

/** What a list of workspaces can be sorted by; specification, "List workspaces query parameters". */
export const workspaceSortKeys = ["name", "latest-change-at", "current-run.created-at"] as const;

export interface WorkspaceSort {
  key: (typeof workspaceSortKeys)[number];
  descending: boolean;
}

/** Reads `name`, `-name` and their like; empty: by name. Undefined: there is no such order. */
export function workspaceSortOf(text: string): WorkspaceSort | undefined {
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text || "name";
  const key = workspaceSortKeys.find((known) => known === name);
  return key && { key, descending };
}

export const workspaceCreated = (workspace: Workspace) =>
  ({ type: "workspaceCreated", revision: workspace.revision, workspace }) as const;

export const workspaceUpdated = (workspace: Workspace) =>
  ({ type: "workspaceUpdated", revision: workspace.revision, workspace }) as const;

export const workspaceDeleted = (workspace: Workspace) =>
  ({ type: "workspaceDeleted", revision: workspace.revision, workspace }) as const;

export const workspaceLocked = (workspace: Workspace, lock: WorkspaceLock) =>
  ({ type: "workspaceLocked", revision: workspace.revision, workspace, lock }) as const;

export const workspaceUnlocked = (
  workspace: Workspace,
  { epoch, forced }: { epoch: bigint; forced: boolean },
) =>
  ({ type: "workspaceUnlocked", revision: workspace.revision, workspace, epoch, forced }) as const;

export const workspaceAutoDestroyDue = (workspace: Workspace, dueAt: Date) =>
  ({ type: "workspaceAutoDestroyDue", revision: workspace.revision, workspace, dueAt }) as const;

export type WorkspaceEvent = ReturnType<
  | typeof workspaceCreated
  | typeof workspaceUpdated
  | typeof workspaceDeleted
  | typeof workspaceLocked
  | typeof workspaceUnlocked
  | typeof workspaceAutoDestroyDue
>;
