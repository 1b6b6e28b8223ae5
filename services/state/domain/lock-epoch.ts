import {
  lockSealed,
  rollbackWithoutLock,
  stateVersionPending,
  workspaceLockedByOther,
  workspaceNotLocked,
} from "./errors.ts";
import { awaitsContent, discard, makeCurrent, type StateVersion } from "./state-version.ts";
import { type Placement, touch, type WorkspaceState } from "./workspace-state.ts";

export interface Holder {
  type: string;
  id: string;
}

/** The response of the service workspaces about a lock. */
export interface LockAnswer {
  lock: { holder: Holder; epoch: bigint } | null;
  placement: Placement;
  /** The workspace of the run that the request names; null if that run is unknown. */
  runWorkspaceId: string | null;
}

/**
 * The epoch under which `holder` may write. Throws 412 if unlocked, 409 if another holder has the lock, 409 if
 * sealed.
 */
export function writableEpoch(
  workspaceState: WorkspaceState,
  lock: LockAnswer["lock"],
  holder: Holder,
): bigint {
  if (!lock) throw workspaceNotLocked();
  return heldEpoch(workspaceState, lock, holder);
}

/** The epoch under which `holder` may roll back. Throws 409 if unlocked, held by another holder, or sealed. */
export function rollbackEpoch(
  workspaceState: WorkspaceState,
  lock: LockAnswer["lock"],
  holder: Holder,
): bigint {
  if (!lock) throw rollbackWithoutLock();
  return heldEpoch(workspaceState, lock, holder);
}

function heldEpoch(
  workspaceState: WorkspaceState,
  lock: NonNullable<LockAnswer["lock"]>,
  holder: Holder,
): bigint {
  if (lock.holder.type !== holder.type || lock.holder.id !== holder.id) {
    throw workspaceLockedByOther(lock.holder);
  }
  requireUnsealed(workspaceState, lock.epoch);
  return lock.epoch;
}

/** Throws `lockSealed` when the epoch has ended. */
export function requireUnsealed(workspaceState: WorkspaceState, epoch: bigint): void {
  if (epoch <= workspaceState.sealedEpoch) throw lockSealed();
}

export interface EpochEnd {
  epoch: bigint;
  /** Force-unlock discards pending versions; otherwise they prevent the end of the epoch. */
  discardPending: boolean;
  now: Date;
}

/** The versions that ending an epoch changed, for the events. */
export interface EpochEnded {
  discarded: StateVersion[];
  promoted: StateVersion | undefined;
}

/**
 * Ends every lock epoch up to this one: they accept no more writes, and the newest finalized intermediate version
 * becomes current. Repeating it changes nothing. Throws `stateVersionPending`.
 *
 * `versions`: the pending ones, and finalized intermediate ones newer than the current version.
 */
export function endLockEpoch(
  workspaceState: WorkspaceState,
  versions: readonly StateVersion[],
  { epoch, discardPending, now }: EpochEnd,
): EpochEnded {
  const within = versions.filter((version) => version.lockEpoch <= epoch);
  const pending = within.filter((version) => version.status === "pending");
  if (!discardPending && pending.some((version) => awaitsContent(version, now))) {
    throw stateVersionPending();
  }
  for (const version of pending) discard(version);
  if (pending.length > 0) touch(workspaceState, now);
  if (epoch > workspaceState.sealedEpoch) workspaceState.sealedEpoch = epoch;

  const promoted = within
    .filter((version) => version.status === "finalized" && version.intermediate)
    .toSorted((a, b) => (a.position > b.position ? -1 : 1))
    .find((version) => makeCurrent(workspaceState, version, now));
  return { discarded: pending, promoted };
}
