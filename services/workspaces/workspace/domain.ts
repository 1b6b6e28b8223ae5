import { badRequest, notFound } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import { type AutoDestroy, noAutoDestroy } from "../auto-destroy/domain.ts";
import type { DataRetentionPolicyView } from "../data-retention-policy/domain.ts";
import { type Execution, type ExecutionMode, inheritedExecution } from "../execution/domain.ts";
import type { OrganizationId, ProjectId, SshKeyId, WorkspaceId } from "../ids-domain.ts";
import type { Performance } from "../performance/domain.ts";
import { noState, type Summarized } from "../state-summary/domain.ts";
import { type Lockable, unlocked } from "../workspace-lock/domain.ts";
import type { VcsRepo } from "./vcs-repo-domain.ts";

/** Boolean settings without validation rules, with their defaults for new workspaces. */
export const booleanSettings = {
  allowDestroyPlan: true,
  autoApply: false,
  autoApplyRunTrigger: false,
  fileTriggersEnabled: true,
  globalRemoteState: false,
  /** If true, runs of workspaces in the same project may read this workspace's state. */
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
};

/** Fields whose rules are defined in other files. */
type RuledFields = typeof booleanSettings & Execution & AutoDestroy & Lockable & Summarized;

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor sets the fields of the interface too.
export class Workspace {
  declare id: WorkspaceId;
  declare organizationId: OrganizationId;
  declare projectId: ProjectId;
  declare name: string;
  declare description: string | null;
  /** Health assessments; hosted edition only. */
  declare assessmentsEnabled: boolean;
  declare sshKeyId: SshKeyId | null;
  declare sourceName: string | null;
  declare sourceUrl: string | null;
  declare engineVersion: string;
  declare triggerPatterns: string[];
  declare triggerPrefixes: string[];
  declare vcsRepo: VcsRepo | null;
  declare workingDirectory: string | null;
  /** Version of the workspace's placement; grows when the workspace moves to another project. */
  declare placementVersion: bigint;
  /** The highest placement version that the state service has confirmed. */
  declare placementAcknowledged: bigint;
  /** The time at which a placement is sent again if the state service has not confirmed it. */
  declare retryAt: Date;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;
}

export interface Workspace extends RuledFields {}

export interface NewWorkspace {
  id: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  engineVersion: string;
}

/** Creates a workspace with default settings; the caller must set its name. */
export function newWorkspace(input: NewWorkspace, now: Date): Workspace {
  const version = nextVersion(0n, now);
  return newRow(Workspace, {
    ...booleanSettings,
    ...inheritedExecution,
    ...noAutoDestroy,
    ...unlocked,
    ...noState,
    ...input,
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
    // The placement of a new workspace need not be sent: the state service requests it at the first call about the
    // workspace.
    placementAcknowledged: version,
    retryAt: now,
    revision: version,
    createdAt: now,
    updatedAt: now,
  });
}

/** Maximum length of a workspace name; the same limit as the public service (HCP Terraform). */
const MAX_LENGTH = 90;
const CHARACTERS = /^[A-Za-z0-9_-]+$/;

/** Returns whether a workspace name is valid. */
export const isWorkspaceName = (name: string): boolean =>
  problemOfWorkspaceName(name) === undefined;

/**
 * Returns the problem of an invalid name, in the exact words that clients search for; undefined if the name is valid.
 */
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
  | "inheritedActivityDuration"
  | "deletionLock"
  | "lastLockEpoch"
  | "placementVersion"
  | "placementAcknowledged"
  | "retryAt"
  | "stateRevision"
  | "revision"
>;

/** The values of a workspace's document, with inherited values and related objects. */
export interface WorkspaceView extends ShownFields {
  organizationName: string;
  /**
   * The organization's setting `allow-force-delete-workspaces`: whether users with the access level `admin` may
   * force-delete the workspace.
   */
  allowForceDelete: boolean;
  /** The effective execution mode: the workspace's own mode or the inherited mode. */
  executionMode: ExecutionMode;
  overwritesExecutionMode: boolean;
  /** The effective agent pool: the workspace's own or the inherited pool. Null unless the effective mode is `agent`. */
  agentPoolId: Workspace["agentPoolId"];
  /** Names of the flat tags, in alphabetical order. */
  tagNames: string[];
  /** This field and the next three come from runners' reports; the ids are null until the first report. */
  currentRunId: string | null;
  latestRunId: string | null;
  currentConfigurationVersionId: string | null;
  hasReadme: boolean;
  /** The workspace's own policy; null if the policy of the organization or installation applies. */
  dataRetentionPolicy: DataRetentionPolicyView | null;
  /** The number of days after which the effective policy deletes state versions; null if it deletes none. */
  effectiveRetentionDays: number | null;
  /** Null until the workspace has its first errored or applied run. */
  performance: Performance | null;
}

/** Identifies a workspace in a request. */
export type WorkspaceRef = { id: Workspace["id"] } | WorkspaceNameRef;

export interface WorkspaceNameRef {
  organizationName: string;
  workspaceName: string;
}

/** The keys by which a list of workspaces can be sorted. */
export const workspaceSortKeys = ["name", "latest-change-at", "current-run.created-at"] as const;

/** The keys by which administrators can sort the workspaces of all organizations. */
export const administeredWorkspaceSortKeys = ["name", "current-run.created-at"] as const;

interface Sort<Key> {
  key: Key;
  descending: boolean;
}

export type WorkspaceSort = Sort<(typeof workspaceSortKeys)[number]>;
export type AdministeredWorkspaceSort = Sort<(typeof administeredWorkspaceSortKeys)[number]>;

/**
 * Parses the sort order of a list; a leading `-` means descending, and an empty string means `name`. Throws
 * `badRequest` if the order is not one of `keys`.
 */
export function sortOf<Key extends string>(keys: readonly Key[], text: string): Sort<Key> {
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text || "name";
  const key = keys.find((known) => known === name);
  if (key === undefined) throw sortUnknown(keys);
  return { key, descending };
}

/** The values of a workspace that its events contain. */
export type PublishedWorkspace = Pick<
  Workspace,
  "id" | "organizationId" | "projectId" | "name" | "placementVersion" | "revision"
>;

export const workspaceNotFound = () => notFound("workspace");

/** Thrown if a list cannot be sorted by the requested key. */
const sortUnknown = (keys: readonly string[]) =>
  badRequest(
    "sort",
    `sort must be one of ${keys.join(", ")}, with an optional leading - for the reverse order.`,
  );
