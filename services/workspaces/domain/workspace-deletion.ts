import { nextVersion } from "@statehouse/events/version";
import {
  stateBeingProcessed,
  workspaceDeletionOvertaken,
  workspaceLockedForDeletion,
  workspaceLockHeld,
  workspaceManagesResources,
} from "./errors.ts";
import { isBeingDeleted, type Lockable } from "./workspace-lock.ts";

/** The state of a workspace that is about to be deleted. */
export interface ManagedResources {
  count: number;
  /** False while an upload or the extraction of the current version is in progress. */
  processed: boolean;
}

/** Longer than any request may take, so that only an interrupted deletion loses its lock. */
const LEASE_MS = 120_000;

/** First step of a safe deletion. Returns the epoch that the second step requires. */
export function takeDeletionLock(workspace: Lockable, now: Date): bigint {
  if (workspace.lock) throw workspaceLockHeld(workspace.lock.holder);
  if (isBeingDeleted(workspace, now)) throw workspaceLockedForDeletion();
  const epoch = nextVersion(workspace.lastLockEpoch, now);
  workspace.lastLockEpoch = epoch;
  workspace.deletionLock = { epoch, until: new Date(now.getTime() + LEASE_MS) };
  return epoch;
}

/** Ends the lock of a safe deletion, whether or not it succeeds. Throws if another caller took the lock meanwhile. */
export function endDeletionLock(workspace: Lockable, epoch: bigint): void {
  if (workspace.lock) throw workspaceLockHeld(workspace.lock.holder);
  if (workspace.lastLockEpoch !== epoch || workspace.deletionLock?.epoch !== epoch) {
    throw workspaceDeletionOvertaken();
  }
  workspace.deletionLock = null;
}

/** The reason why a workspace may not be safely deleted; undefined if there is none. */
export function refusalToDelete({ count, processed }: ManagedResources) {
  if (!processed) return stateBeingProcessed();
  if (count > 0) return workspaceManagesResources(count);
  return undefined;
}
