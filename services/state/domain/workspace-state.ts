import { nextVersion } from "@statehouse/events/version";
import {
  lockSealed,
  workspaceLockedByOther,
  workspaceNotFound,
  workspaceNotLocked,
} from "./errors.ts";
import type { StateVersionId, WorkspaceId } from "./ids.ts";

/** Where a workspace belongs; workspaces owns it, only higher versions apply. */
export interface Placement {
  workspaceId: WorkspaceId;
  organizationId: string;
  projectId: string;
  version: bigint;
}

export interface Holder {
  type: string;
  id: string;
}

/** What workspaces answers about a lock. */
export interface LockAnswer {
  lock: { holder: Holder; epoch: bigint } | null;
  placement: Placement;
  /** Of the run that was asked about; null while nobody has reported it. */
  runWorkspaceId: string | null;
}

/** A workspace as state knows it: the row that every change of its state holds. */
export class WorkspaceState {
  workspaceId: WorkspaceId;
  /** Null with placement version 0: sealed before anybody told where it belongs; and once it is dropped. */
  organizationId: string | null = null;
  projectId: string | null = null;
  placementVersion = 0n;
  /** Nothing is written under a lock epoch at or below it. */
  sealedEpoch = 0n;
  currentVersionId: StateVersionId | null = null;
  /** Position of the current version, 0 without one. */
  currentPosition = 0n;
  /** Of the current version, as of its extraction. */
  resourceCount = 0;
  /** When its latest finalized version was created. */
  latestChangeAt: Date | null = null;
  /** Grows with every change; also the creation order of versions. */
  revision = 0n;
  droppedAt: Date | null = null;
  /** When everything but this tombstone was removed. */
  collectedAt: Date | null = null;

  constructor(workspaceId: WorkspaceId) {
    this.workspaceId = workspaceId;
  }
}

/** What workspaces keeps beside its own row. */
export interface StateSummary {
  workspaceId: WorkspaceId;
  currentVersionId: StateVersionId | null;
  resourceCount: number;
  latestChangeAt: Date | null;
  revision: bigint;
}

export const summaryOf = (workspace: WorkspaceState): StateSummary => ({
  workspaceId: workspace.workspaceId,
  currentVersionId: workspace.currentVersionId,
  resourceCount: workspace.resourceCount,
  latestChangeAt: workspace.latestChangeAt,
  revision: workspace.revision,
});

/** A workspace as workspaces compares it with its own row. */
export interface WorkspaceStateRecord {
  summary: StateSummary;
  placementVersion: bigint;
  dropped: boolean;
}

/** Moves the workspace if the news is newer than what is known. A tombstone is final. */
export function applyPlacement(workspace: WorkspaceState, placement: Placement): void {
  if (workspace.droppedAt || placement.version <= workspace.placementVersion) return;
  workspace.organizationId = placement.organizationId;
  workspace.projectId = placement.projectId;
  workspace.placementVersion = placement.version;
}

/** What authorization decides by. Throws `workspaceNotFound` for a dropped or unplaced workspace. */
export function targetOf(workspace: {
  workspaceId: WorkspaceId;
  organizationId: string | null;
  projectId: string | null;
  droppedAt: Date | null;
}): { organizationId: string; projectId: string; workspaceId: WorkspaceId } {
  const { workspaceId, organizationId, projectId, droppedAt } = workspace;
  if (droppedAt || organizationId === null || projectId === null) throw workspaceNotFound();
  return { organizationId, projectId, workspaceId };
}

/** The epoch under which `holder` may write. Throws 412 unlocked, 409 held by another, 409 sealed. */
export function writableEpoch(
  workspace: WorkspaceState,
  lock: LockAnswer["lock"],
  holder: Holder,
): bigint {
  if (!lock) throw workspaceNotLocked();
  if (lock.holder.type !== holder.type || lock.holder.id !== holder.id) {
    throw workspaceLockedByOther(lock.holder);
  }
  requireUnsealed(workspace, lock.epoch);
  return lock.epoch;
}

export function requireUnsealed(workspace: WorkspaceState, epoch: bigint): void {
  if (epoch <= workspace.sealedEpoch) throw lockSealed();
}

/** Ends every lock epoch up to this one; nothing reopens them. */
export function sealEpoch(workspace: WorkspaceState, epoch: bigint): void {
  if (epoch > workspace.sealedEpoch) workspace.sealedEpoch = epoch;
}

/** Marks a change and gives it its number. */
export function touch(workspace: WorkspaceState, now: Date): bigint {
  workspace.revision = nextVersion(workspace.revision, now);
  return workspace.revision;
}

/** A tombstone, final against every version of the placement: unreadable and unwritable from now on. */
export function dropWorkspaceState(workspace: WorkspaceState, now: Date): void {
  if (workspace.droppedAt) return;
  touch(workspace, now);
  workspace.droppedAt = now;
  workspace.organizationId = null;
  workspace.projectId = null;
  workspace.currentVersionId = null;
  workspace.currentPosition = 0n;
  workspace.resourceCount = 0;
  workspace.latestChangeAt = null;
}
