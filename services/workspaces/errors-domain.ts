import { AppError, conflict, forbidden, invalid, quoted } from "@statehouse/errors";
import type { Holder } from "./ids-domain.ts";

const holderTitles = { user: "User", team: "Team", run: "Run" } as const satisfies Record<
  Holder["type"],
  string
>;

/**
 * A conflict with the holder of a workspace's lock. The message contains the holder's id; the use case replaces the id
 * with the holder's name, which it reads from the access service.
 */
export class LockConflict extends AppError {
  readonly holder: Holder;

  constructor(reason: string, holder: Holder, name: string) {
    // The client library go-tfe searches the message for "is locked by User", "is locked by Team" and "is locked by
    // Run".
    super("conflict", reason, `The workspace is locked by ${holderTitles[holder.type]} ${name}.`);
    this.holder = holder;
  }

  /** Returns the same conflict with the holder's name in its message. */
  named(name: string): LockConflict {
    return new LockConflict(this.reason, this.holder, name);
  }
}

/** Thrown if a request locks or safely deletes a workspace that is already locked. */
export const workspaceLockHeld = (holder: Holder) =>
  new LockConflict("workspace_locked", holder, holder.id);

/** Thrown if a caller other than the holder unlocks the workspace. */
export const workspaceLockedByOther = (holder: Holder) =>
  new LockConflict("locked_by_other", holder, holder.id);

/** Thrown while a safe deletion holds the workspace's deletion lock, at most until its lease ends. */
export const workspaceLockedForDeletion = () =>
  conflict("workspace_locked", "The workspace is locked while it is being deleted.");

/**
 * Thrown if a safe deletion has lost its deletion lock: after the lease had ended, another caller locked the workspace,
 * or reconciliation cleared the deletion lock. Nothing was deleted.
 */
export const workspaceDeletionOvertaken = () =>
  conflict(
    "workspace_locked",
    "The workspace was no longer locked for its deletion, which took too long; nothing was deleted.",
  );

export const workspaceAlreadyUnlocked = () =>
  conflict("already_unlocked", "The workspace is already unlocked.");

/**
 * The client library go-tfe searches messages for "locked" and "being processed"; this message must contain neither.
 */
export const workspaceManagesResources = (count: number) =>
  conflict(
    "manages_resources",
    `The workspace manages ${count} ${count === 1 ? "resource" : "resources"}; destroy them first, or force the deletion.`,
  );

/**
 * Thrown while the number of managed resources is unknown, because an upload is in progress or the latest state has not
 * been processed.
 */
export const stateBeingProcessed = () =>
  conflict("state_being_processed", "The workspace's latest state is still being processed.");

/**
 * Thrown if an organization token locks a workspace: the token identifies no user or team that could release the lock.
 */
export const lockHolderNotAllowed = () =>
  forbidden("cannot_hold_lock", "An organization token cannot hold a workspace's lock.");

/** The message for a name that another object of the same kind has. Clients search for this text. */
export const takenText = "Name has already been taken";

/** Thrown if another request took the name after this request had checked it. */
export const nameTaken = () => invalid([{ field: "name", detail: takenText }]);

/** Thrown if a runner's report cannot be stored. */
export const reportInvalid = (field: string, detail: string) => invalid([{ field, detail }]);

/** Thrown if a run or configuration version was first reported for another workspace. */
export const reportedElsewhere = (id: string) =>
  conflict("reported_elsewhere", `${quoted(id)} was reported for another workspace before.`);

/** Thrown if a run or configuration version was first reported by another runner. */
export const reportedByOther = (id: string) =>
  conflict("reported_by_other", `${quoted(id)} was reported by another runner before.`);
