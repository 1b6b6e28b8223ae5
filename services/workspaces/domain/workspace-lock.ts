import { invalid } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import {
  reasonTooLong,
  workspaceAlreadyUnlocked,
  workspaceLockedByOther,
  workspaceLockedForDeletion,
  workspaceLockHeld,
} from "./errors.ts";
import type { Holder } from "./ids.ts";
import { holdsNul } from "./text.ts";

export interface WorkspaceLock {
  holder: Holder;
  reason: string;
  since: Date;
  /** State that is written under this lock carries the epoch. */
  epoch: bigint;
}

/**
 * Blocks writers while a safe deletion requests the number of managed resources from state. It has no holder that
 * could write.
 */
export interface DeletionLock {
  epoch: bigint;
  /** When the lease ends: any caller may then take the lock, and the deletion fails. */
  until: Date;
}

/** The fields of a workspace that the rules of locking use. */
export interface Lockable {
  lock: WorkspaceLock | null;
  deletionLock: DeletionLock | null;
  /** Epoch of the last lock of either kind. It never decreases. */
  lastLockEpoch: bigint;
}

export const unlocked: Lockable = { lock: null, deletionLock: null, lastLockEpoch: 0n };

/** Far above practical use. Limited because the reason is part of an event, whose size is limited. */
const MAX_REASON_LENGTH = 4096;

/** Specification, "Workspace lock state": unlocked → locked. Throws `invalid` for a reason that is too long. */
export function takeLock(
  workspace: Lockable,
  holder: Holder,
  reason: string,
  now: Date,
): WorkspaceLock {
  if (holdsNul(reason)) throw invalid([{ field: "reason", detail: "Reason is invalid" }]);
  if (reason.length > MAX_REASON_LENGTH) throw reasonTooLong(MAX_REASON_LENGTH);
  if (workspace.lock) throw workspaceLockHeld(workspace.lock.holder);
  if (isBeingDeleted(workspace, now)) throw workspaceLockedForDeletion();
  const epoch = nextVersion(workspace.lastLockEpoch, now);
  const lock = { holder, reason, since: now, epoch };
  workspace.lastLockEpoch = epoch;
  workspace.lock = lock;
  workspace.deletionLock = null;
  return lock;
}

/**
 * Returns the epoch that an unlock by `holder` has to seal. Throws if the workspace is not locked or another holder
 * has the lock.
 */
export function epochToUnlock({ lock }: Pick<Lockable, "lock">, holder: Holder): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  if (!sameHolder(lock.holder, holder)) throw workspaceLockedByOther(lock.holder);
  return lock.epoch;
}

/** Returns the epoch that a force-unlock has to seal, for any holder. */
export function epochToForceUnlock({ lock }: Pick<Lockable, "lock">): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  return lock.epoch;
}

/** locked → unlocked, after `sealed` is sealed in state, and only if the lock still has that epoch. */
export function releaseLock(workspace: Lockable, sealed: bigint): void {
  if (workspace.lock?.epoch !== sealed) throw workspaceAlreadyUnlocked();
  workspace.lock = null;
}

/** Whether this holder has the lock. */
export const isHeldBy = ({ lock }: Pick<Lockable, "lock">, holder: Holder): boolean =>
  lock !== null && sameHolder(lock.holder, holder);

/** Whether a safe deletion whose lease has not ended is in progress. */
export const isBeingDeleted = ({ deletionLock }: Lockable, now: Date): boolean =>
  deletionLock !== null && deletionLock.until > now;

const sameHolder = (one: Holder, other: Holder) => one.type === other.type && one.id === other.id;
