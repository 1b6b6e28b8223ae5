import { Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import {
  workspaceAlreadyUnlocked,
  workspaceLockedByOther,
  workspaceLockedForDeletion,
  workspaceLockHeld,
} from "../errors-domain.ts";
import type { Holder } from "../ids-domain.ts";
import { checkText } from "../text-domain.ts";

export interface WorkspaceLock {
  holder: Holder;
  reason: string;
  since: Date;
  /** The epoch of this lock. Every state write under the lock contains it. */
  epoch: bigint;
}

/**
 * Blocks writers while a safe deletion reads the number of managed resources from the state service. It has no holder,
 * so no caller can write state under it.
 */
export interface DeletionLock {
  epoch: bigint;
  /** The time at which the lease ends. After it, any caller may lock the workspace; the deletion then fails. */
  until: Date;
}

/** The fields of a workspace that the rules of locking use. */
export interface Lockable {
  lock: WorkspaceLock | null;
  deletionLock: DeletionLock | null;
  /** Epoch of the last lock of either kind (lock or deletion lock). It never decreases. */
  lastLockEpoch: bigint;
}

export const unlocked: Lockable = { lock: null, deletionLock: null, lastLockEpoch: 0n };

/** Maximum length of a lock's reason, in characters. The reason is part of an event, whose size is limited. */
const MAX_REASON_LENGTH = 4096;

/**
 * Locks an unlocked workspace. Throws a conflict if it is locked or being deleted, and `invalid` for an invalid reason.
 */
export function takeLock(
  workspace: Lockable,
  holder: Holder,
  reason: string,
  now: Date,
): WorkspaceLock {
  const problems = new Problems();
  checkText("reason", reason, MAX_REASON_LENGTH, problems);
  problems.throwIfAny();
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
 * Returns the lock epoch that must be sealed when `holder` unlocks the workspace. Throws if the workspace is not locked
 * or has another holder.
 */
export function epochToUnlock({ lock }: Pick<Lockable, "lock">, holder: Holder): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  if (!sameHolder(lock.holder, holder)) throw workspaceLockedByOther(lock.holder);
  return lock.epoch;
}

/**
 * Returns the lock epoch that must be sealed when the workspace is force-unlocked, whichever principal holds the lock.
 * Throws if the workspace is not locked.
 */
export function epochToForceUnlock({ lock }: Pick<Lockable, "lock">): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  return lock.epoch;
}

/**
 * Unlocks the workspace after the epoch `sealed` was sealed in the state service. Throws a conflict if the workspace is
 * unlocked or its lock has another epoch.
 */
export function releaseLock(workspace: Lockable, sealed: bigint): void {
  if (workspace.lock?.epoch !== sealed) throw workspaceAlreadyUnlocked();
  workspace.lock = null;
}

/** Returns whether this holder has the lock. */
export const isHeldBy = ({ lock }: Pick<Lockable, "lock">, holder: Holder): boolean =>
  lock !== null && sameHolder(lock.holder, holder);

/** Returns whether a safe deletion holds the deletion lock and its lease has not ended. */
export const isBeingDeleted = ({ deletionLock }: Lockable, now: Date): boolean =>
  deletionLock !== null && deletionLock.until > now;

const sameHolder = (one: Holder, other: Holder) => one.type === other.type && one.id === other.id;
