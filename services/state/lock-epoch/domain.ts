import {
  lockSealed,
  stateVersionPending,
  workspaceLockedByOther,
  workspaceNotLocked,
} from "../errors-domain.ts";
import { awaitsContent, discard, makeCurrent, type StateVersion } from "../state-version/domain.ts";
import { type Placement, touch, type WorkspaceState } from "../workspace-state/domain.ts";

export interface Holder {
  type: string;
  id: string;
}

/** The response of the workspaces service to a query for a lock. */
export interface LockAnswer {
  lock: { holder: Holder; epoch: bigint } | null;
  placement: Placement;
}

/**
 * Returns the epoch under which `holder` may write. Throws `withoutLock` if the workspace is not locked; 409 if another
 * holder has the lock or the epoch is sealed.
 */
export function writableEpoch(
  workspaceState: WorkspaceState,
  lock: LockAnswer["lock"],
  holder: Holder,
  withoutLock = workspaceNotLocked,
): bigint {
  if (!lock) throw withoutLock();
  if (lock.holder.type !== holder.type || lock.holder.id !== holder.id) {
    throw workspaceLockedByOther(lock.holder);
  }
  requireUnsealed(workspaceState, lock.epoch);
  return lock.epoch;
}

/** Throws `lockSealed` if the epoch has ended. */
export function requireUnsealed(workspaceState: WorkspaceState, epoch: bigint): void {
  if (epoch <= workspaceState.sealedEpoch) throw lockSealed();
}

export interface EpochEnd {
  epoch: bigint;
  /**
   * True for a force-unlock, which discards pending versions. If false, a pending version whose upload window has not
   * ended prevents the end of the epoch.
   */
  discardPending: boolean;
  now: Date;
}

/** The versions that the end of an epoch changed; events are recorded for them. */
export interface EpochEnded {
  discarded: StateVersion[];
  promoted: StateVersion | undefined;
}

/**
 * Ends every lock epoch up to this one. These epochs accept no more writes, their pending versions are discarded, and
 * their newest finalized snapshot becomes current if it is newer than the current version. A repeated call changes
 * nothing. Throws `stateVersionPending`.
 *
 * `versions` must contain the pending versions, and the finalized snapshots newer than the current version.
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
