import { nextVersion } from "@statehouse/events/version";
import { workspaceNotFound } from "./errors.ts";
import type { StateVersionId, WorkspaceId } from "./ids.ts";

/** Organization and project of a workspace. The service workspaces owns it; only higher versions apply. */
export interface Placement {
  workspaceId: WorkspaceId;
  organizationId: string;
  projectId: string;
  version: bigint;
}

/** What state stores of one workspace: the row that every change of its state locks. */
export class WorkspaceState {
  declare workspaceId: WorkspaceId;
  /** Null, with placement version 0, if it was sealed before its placement was known; null once it is dropped. */
  declare organizationId: string | null;
  declare projectId: string | null;
  declare placementVersion: bigint;
  /** Lock epochs up to this one accept no writes. */
  declare sealedEpoch: bigint;
  declare currentVersionId: StateVersionId | null;
  /** Position of the current version; 0 if there is none. */
  declare currentPosition: bigint;
  /** Number of managed resources of the current version, as extracted. */
  declare resourceCount: number;
  /** Creation time of its latest finalized version. */
  declare latestChangeAt: Date | null;
  /** Grows with every change and also gives the creation order of versions. */
  declare revision: bigint;
  declare droppedAt: Date | null;
  /** When a dropped workspace was purged, so that only this tombstone is left. */
  declare purgedAt: Date | null;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof WorkspaceState]: WorkspaceState[Name] };

/** A workspace without a placement and without versions. */
export const newWorkspaceState = (workspaceId: WorkspaceId): WorkspaceState =>
  new WorkspaceState({
    workspaceId,
    organizationId: null,
    projectId: null,
    placementVersion: 0n,
    sealedEpoch: 0n,
    currentVersionId: null,
    currentPosition: 0n,
    resourceCount: 0,
    latestChangeAt: null,
    revision: 0n,
    droppedAt: null,
    purgedAt: null,
  });

/** The part of a workspace's state that authorization and reads use. */
export type WorkspaceStateView = Pick<
  WorkspaceState,
  "workspaceId" | "organizationId" | "projectId" | "currentVersionId" | "droppedAt"
>;

/** The values that the service workspaces stores beside its own row. */
export type StateSummary = Pick<
  WorkspaceState,
  "workspaceId" | "currentVersionId" | "resourceCount" | "latestChangeAt" | "revision"
>;

export const summaryOf = ({
  workspaceId,
  currentVersionId,
  resourceCount,
  latestChangeAt,
  revision,
}: WorkspaceState): StateSummary => ({
  workspaceId,
  currentVersionId,
  resourceCount,
  latestChangeAt,
  revision,
});

/** The values that the service workspaces compares with its own row. */
export interface WorkspaceStateRecord {
  summary: StateSummary;
  placementVersion: bigint;
  dropped: boolean;
}

/** Moves the workspace if the placement is newer than the stored one. A tombstone never changes. */
export function applyPlacement(workspaceState: WorkspaceState, placement: Placement): void {
  if (placement.version > workspaceState.placementVersion) {
    replacePlacement(workspaceState, placement);
  }
}

/** Moves the workspace, whatever placement is stored. A tombstone never changes. */
export function replacePlacement(workspaceState: WorkspaceState, placement: Placement): void {
  if (workspaceState.droppedAt) return;
  workspaceState.organizationId = placement.organizationId;
  workspaceState.projectId = placement.projectId;
  workspaceState.placementVersion = placement.version;
}

/** The target of authorization. Throws `workspaceNotFound` if the workspace is dropped or has no placement. */
export function targetOf({
  workspaceId,
  organizationId,
  projectId,
  droppedAt,
}: Omit<WorkspaceStateView, "currentVersionId">): {
  organizationId: string;
  projectId: string;
  workspaceId: WorkspaceId;
} {
  if (droppedAt || organizationId === null || projectId === null) throw workspaceNotFound();
  return { organizationId, projectId, workspaceId };
}

/** Throws `workspaceNotFound` for a dropped workspace. */
export function requireNotDropped({ droppedAt }: Pick<WorkspaceState, "droppedAt">): void {
  if (droppedAt) throw workspaceNotFound();
}

/** Raises the revision and returns it. The revision is also the position of a version that this change creates. */
export function touch(workspaceState: WorkspaceState, now: Date): bigint {
  workspaceState.revision = nextVersion(workspaceState.revision, now);
  return workspaceState.revision;
}

/** Leaves a tombstone that no later placement changes: the state can neither be read nor written from now on. */
export function dropWorkspaceState(workspaceState: WorkspaceState, now: Date): void {
  if (workspaceState.droppedAt) return;
  touch(workspaceState, now);
  workspaceState.droppedAt = now;
  workspaceState.organizationId = null;
  workspaceState.projectId = null;
  workspaceState.currentVersionId = null;
  workspaceState.currentPosition = 0n;
  workspaceState.resourceCount = 0;
  workspaceState.latestChangeAt = null;
}
