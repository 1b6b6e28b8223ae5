import { badRequest, notFound } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { type AutoDestroy, noAutoDestroy } from "./auto-destroy.ts";
import type { DataRetentionPolicyView } from "./data-retention-policy.ts";
import { type Execution, type ExecutionMode, inheritedExecution } from "./execution.ts";
import type { OrganizationId, ProjectId, SshKeyId, WorkspaceId } from "./ids.ts";
import type { Performance } from "./performance.ts";
import { noState, type Summarized } from "./state-summary.ts";
import type { VcsRepo } from "./vcs-repo.ts";
import { type Lockable, unlocked, type WorkspaceLock } from "./workspace-lock.ts";

/** Boolean settings that have no rule, with the value of a new workspace. */
export const booleanSettings = {
  allowDestroyPlan: true,
  autoApply: false,
  autoApplyRunTrigger: false,
  fileTriggersEnabled: true,
  globalRemoteState: false,
  /** Runs of workspaces in the same project may read its state. */
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
};

/** Fields whose rules are in separate files. */
type RuledFields = typeof booleanSettings & Execution & AutoDestroy & Lockable & Summarized;

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor sets the fields of the interface too.
export class Workspace {
  declare id: WorkspaceId;
  declare organizationId: OrganizationId;
  declare projectId: ProjectId;
  declare name: string;
  declare description: string | null;
  /** Hosted edition only. */
  declare assessmentsEnabled: boolean;
  declare sshKeyId: SshKeyId | null;
  declare sourceName: string | null;
  declare sourceUrl: string | null;
  declare engineVersion: string;
  declare triggerPatterns: string[];
  declare triggerPrefixes: string[];
  declare vcsRepo: VcsRepo | null;
  declare workingDirectory: string | null;
  /** Version of its organization and project; grows when the workspace moves. */
  declare placementVersion: bigint;
  /** The highest placement version that state has confirmed. */
  declare placementAcknowledged: bigint;
  /** When a placement that state has not confirmed is sent again. */
  declare retryAt: Date;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

export interface Workspace extends RuledFields {}

type Fields = { [Name in keyof Workspace]: Workspace[Name] };

export interface NewWorkspace {
  id: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  engineVersion: string;
}

/** A workspace with every default of the specification's table; the caller sets its name. */
export function newWorkspace(wanted: NewWorkspace, now: Date): Workspace {
  const version = nextVersion(0n, now);
  return new Workspace({
    ...booleanSettings,
    ...inheritedExecution,
    ...noAutoDestroy,
    ...unlocked,
    ...noState,
    ...wanted,
    name: "",
    description: null,
    assessmentsEnabled: false,
    sshKeyId: null,
    sourceName: null,
    sourceUrl: null,
    triggerPatterns: [],
    triggerPrefixes: [],
    vcsRepo: null,
    workingDirectory: null,
    placementVersion: version,
    // State does not have its placement yet; it requests the placement with the first call about the workspace.
    placementAcknowledged: version,
    retryAt: now,
    revision: version,
    createdAt: now,
    updatedAt: now,
  });
}

/** The public service's limit; far below the maximum of an index row. */
const MAX_LENGTH = 90;
const CHARACTERS = /^[A-Za-z0-9_-]+$/;

/** Whether a workspace name has a valid form. */
export const isWorkspaceName = (name: string): boolean =>
  problemOfWorkspaceName(name) === undefined;

/** Validation problems of a name, in the words that clients match. */
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

/** A workspace as its document shows it, with inherited values and related objects. */
export interface WorkspaceView extends ShownFields {
  organizationName: string;
  /** The organization's setting: whether workspace admins may force-delete. */
  allowForceDelete: boolean;
  /** The effective value. */
  executionMode: ExecutionMode;
  overwritesExecutionMode: boolean;
  /** The effective pool. It comes from where the mode comes from. */
  agentPoolId: Workspace["agentPoolId"];
  /** Flat tags, by name. */
  tagNames: string[];
  /** Reported by runners; null until the first report. */
  currentRunId: string | null;
  latestRunId: string | null;
  currentConfigurationVersionId: string | null;
  hasReadme: boolean;
  /** The workspace's own value; null: the value of the organization or installation applies. */
  dataRetentionPolicy: DataRetentionPolicyView | null;
  /** Null before the first errored or applied run. */
  performance: Performance | null;
}

/** The address of a workspace in a request. */
export type WorkspaceRef =
  | { id: Workspace["id"] }
  | { organizationName: string; workspaceName: string };

/** The sort orders of a list of workspaces; specification, "List workspaces query parameters". */
export const workspaceSortKeys = ["name", "latest-change-at", "current-run.created-at"] as const;

export interface WorkspaceSort {
  key: (typeof workspaceSortKeys)[number];
  descending: boolean;
}

/** Parses `name`, `-name` and the other orders; empty means by name. Undefined if the order is unknown. */
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

export const workspaceNotFound = () => notFound("workspace");

/** The list has no such sort order. */
export const sortUnknown = (keys: readonly string[]) =>
  badRequest("sort", `sort must be one of ${keys.join(", ")}, with a leading - to reverse it.`);
