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
  /** What was written at state under this lock carries it. */
  epoch: bigint;
}

/** Keeps writers out while a safe delete asks state what the workspace manages. Nobody can write under it. */
export interface DeletionLock {
  epoch: bigint;
  /** After this, anybody may take the lock and the deletion comes to nothing. */
  until: Date;
}

/** What of a workspace the rules of locking are about. */
export interface Lockable {
  lock: WorkspaceLock | null;
  deletionLock: DeletionLock | null;
  /** Of the last lock of either kind; only grows. */
  lastLockEpoch: bigint;
}

export const unlocked: Lockable = { lock: null, deletionLock: null, lastLockEpoch: 0n };

/** Far more than anybody reads. It travels with an event, and a bus takes only so much at once. */
const MAX_REASON_LENGTH = 4096;

/** Specification, "Workspace lock state": unlocked → locked. Throws `invalid` for a reason too long. */
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

/** The epoch that an unlock by `holder` has to seal. Throws when there is no lock, or it is another's. */
export function epochToUnlock({ lock }: Pick<Lockable, "lock">, holder: Holder): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  if (!sameHolder(lock.holder, holder)) throw workspaceLockedByOther(lock.holder);
  return lock.epoch;
}

/** The epoch that a force-unlock has to seal, whoever holds it. */
export function epochToForceUnlock({ lock }: Pick<Lockable, "lock">): bigint {
  if (!lock) throw workspaceAlreadyUnlocked();
  return lock.epoch;
}

/** locked → unlocked, once `sealed` is sealed at state, and only if the lock is still that one. */
export function releaseLock(workspace: Lockable, sealed: bigint): void {
  if (workspace.lock?.epoch !== sealed) throw workspaceAlreadyUnlocked();
  workspace.lock = null;
}

/** Whether the lock is this holder's. */
export const isHeldBy = ({ lock }: Pick<Lockable, "lock">, holder: Holder): boolean =>
  lock !== null && sameHolder(lock.holder, holder);

/** Whether a safe delete is under way whose lease has not ended. */
export const isBeingDeleted = ({ deletionLock }: Lockable, now: Date): boolean =>
  deletionLock !== null && deletionLock.until > now;

const sameHolder = (one: Holder, other: Holder) => one.type === other.type && one.id === other.id;
