import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import { workspaceNotFound } from "../errors-domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";

/**
 * The organization and project of a workspace. The workspaces service owns this data; the version grows with each move.
 */
export interface Placement {
  workspaceId: WorkspaceId;
  organizationId: string;
  projectId: string;
  version: bigint;
}

/** The state service's row for one workspace. Every change of the workspace's state locks it. */
export class WorkspaceState {
  declare workspaceId: WorkspaceId;
  /**
   * Null, with placement version 0, if a lock was sealed before the placement was known. Also null after the workspace
   * was dropped.
   */
  declare organizationId: string | null;
  declare projectId: string | null;
  declare placementVersion: bigint;
  /** Lock epochs up to this one accept no writes. */
  declare sealedEpoch: bigint;
  declare currentVersionId: StateVersionId | null;
  /** Position of the current version; 0 if there is none. */
  declare currentPosition: bigint;
  /** Number of managed resources that extraction found in the current version. */
  declare resourceCount: number;
  /** Creation time of the latest finalized version. */
  declare latestChangeAt: Date | null;
  /** Increases with every change; a new version takes it as its position. */
  declare revision: bigint;
  declare droppedAt: Date | null;
  /** When a dropped workspace was purged; only this row is left, as a tombstone. */
  declare purgedAt: Date | null;
}

/** Creates the row of a workspace without a placement and without versions. */
export const newWorkspaceState = (workspaceId: WorkspaceId): WorkspaceState =>
  newRow(WorkspaceState, {
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

/** The values that the workspaces service copies to its own row of the workspace. */
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

/** The values that the workspaces service compares with its own row of the workspace. */
export interface WorkspaceStateRecord extends StateSummary {
  placementVersion: bigint;
  dropped: boolean;
}

/** Moves the workspace if the placement is newer than the stored one. A tombstone never changes. */
export function applyPlacement(workspaceState: WorkspaceState, placement: Placement): void {
  if (placement.version > workspaceState.placementVersion) {
    replacePlacement(workspaceState, placement);
  }
}

/** Moves the workspace regardless of the stored placement's version. A tombstone never changes. */
export function replacePlacement(workspaceState: WorkspaceState, placement: Placement): void {
  if (workspaceState.droppedAt) return;
  workspaceState.organizationId = placement.organizationId;
  workspaceState.projectId = placement.projectId;
  workspaceState.placementVersion = placement.version;
}

/** Returns the target of authorization. Throws `workspaceNotFound` if the workspace is dropped or has no placement. */
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

/** Raises the revision and returns it. A version that this change creates uses the revision as its position. */
export function touch(workspaceState: WorkspaceState, now: Date): bigint {
  workspaceState.revision = nextVersion(workspaceState.revision, now);
  return workspaceState.revision;
}

/**
 * Turns the row into a tombstone. After that the state can be neither read nor written, and no later placement changes
 * the row.
 */
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
