import { nextVersion } from "@statehouse/events/version";
import {
  stateBeingProcessed,
  workspaceDeletionOvertaken,
  workspaceLockedForDeletion,
  workspaceLockHeld,
  workspaceManagesResources,
} from "../errors-domain.ts";
import { isBeingDeleted, type Lockable } from "../workspace-lock/domain.ts";

/** The resources in the state of a workspace that is to be deleted. */
export interface ManagedResources {
  count: number;
  /**
   * False while an upload is in progress or the current state version is being extracted; `count` is not reliable then.
   */
  processed: boolean;
}

/**
 * The lease of a deletion lock in ms. It is longer than the time limit of any request, so only an interrupted deletion
 * loses its lock.
 */
const LEASE_MS = 120_000;

/**
 * Takes the deletion lock, the first step of a safe deletion. Returns the epoch that the second step,
 * `endDeletionLock`, requires.
 */
export function takeDeletionLock(workspace: Lockable, now: Date): bigint {
  if (workspace.lock) throw workspaceLockHeld(workspace.lock.holder);
  if (isBeingDeleted(workspace, now)) throw workspaceLockedForDeletion();
  const epoch = nextVersion(workspace.lastLockEpoch, now);
  workspace.lastLockEpoch = epoch;
  workspace.deletionLock = { epoch, until: new Date(now.getTime() + LEASE_MS) };
  return epoch;
}

/**
 * Ends the deletion lock of a safe deletion, both if the deletion succeeds and if it fails. Throws a conflict if the
 * deletion has lost this lock: its lease had ended, and the workspace was locked or the deletion lock was cleared.
 */
export function endDeletionLock(workspace: Lockable, epoch: bigint): void {
  if (workspace.lock) throw workspaceLockHeld(workspace.lock.holder);
  if (workspace.lastLockEpoch !== epoch || workspace.deletionLock?.epoch !== epoch) {
    throw workspaceDeletionOvertaken();
  }
  workspace.deletionLock = null;
}

/** Returns the error that explains why a workspace must not be safely deleted; undefined if it may be deleted. */
export function refusalToDelete({ count, processed }: ManagedResources) {
  if (!processed) return stateBeingProcessed();
  if (count > 0) return workspaceManagesResources(count);
  return undefined;
}
