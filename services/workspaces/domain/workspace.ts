import { nextVersion } from "@statehouse/events/version";
import type { ExecutionMode } from "./execution-mode.ts";
import type { AgentPoolId, OrganizationId, ProjectId, SshKeyId, WorkspaceId } from "./ids.ts";
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
