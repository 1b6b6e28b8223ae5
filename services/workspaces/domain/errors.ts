import { AppError, conflict, forbidden, invalid } from "@statehouse/errors";
import type { Holder } from "./ids.ts";

const holderTitles = { user: "User", team: "Team", run: "Run" } as const satisfies Record<
  Holder["type"],
  string
>;

/** Somebody holds the lock. Says who by id until the use case, which may ask access, names them. */
export class LockConflict extends AppError {
  readonly holder: Holder;

  constructor(reason: string, holder: Holder, name: string) {
    // go-tfe looks for "is locked by User", "… Team" and "… Run".
    super("conflict", reason, `The workspace is locked by ${holderTitles[holder.type]} ${name}.`);
    this.holder = holder;
  }

  /** The same conflict with the holder's name in its text. */
  named(name: string): LockConflict {
    return new LockConflict(this.reason, this.holder, name);
  }
}

/** The lock is wanted, and somebody has it. */
export const workspaceLockHeld = (holder: Holder) =>
  new LockConflict("workspace_locked", holder, holder.id);

/** Only the holder may unlock. */
export const workspaceLockedByOther = (holder: Holder) =>
  new LockConflict("locked_by_other", holder, holder.id);

/** A deletion under way keeps everybody else out for as long as its lease lasts. */
export const workspaceLockedForDeletion = () =>
  conflict("workspace_locked", "The workspace is locked while it is being deleted.");

/** The deletion's lock was lost to somebody in the meantime; nothing was changed. */
export const workspaceDeletionOvertaken = () =>
  conflict("workspace_locked", "The workspace was locked while it was about to be deleted.");

export const reasonTooLong = (most: number) =>
  invalid([{ field: "reason", detail: `Reason is too long (maximum is ${most} characters)` }]);

export const workspaceAlreadyUnlocked = () =>
  conflict("already_unlocked", "The workspace is already unlocked.");

/** go-tfe tells "locked" and "being processed" apart from everything else: neither may be in it. */
export const workspaceManagesResources = (count: number) =>
  conflict(
    "manages_resources",
    `The workspace manages ${count} ${count === 1 ? "resource" : "resources"}; destroy them first, or force the deletion.`,
  );

/** Nobody can tell yet what the workspace manages. */
export const stateBeingProcessed = () =>
  conflict("state_being_processed", "The workspace's latest state is still being processed.");

/** An organization's token speaks for nobody who could be asked to give a lock back. */
export const lockHolderNotAllowed = () =>
  forbidden("cannot_hold_lock", "An organization token cannot hold a workspace's lock.");

/** The text clients match, for organizations, projects and workspaces alike. */
export const takenText = "Name has already been taken";

/** Lost the race for a name that was free when the request was checked. */
export const nameTaken = () => invalid([{ field: "name", detail: takenText }]);

/** A report that no rule can make sense of; its event becomes a dead letter. */
export const reportInvalid = (what: string) =>
  invalid([{ field: what, detail: `${what} is invalid` }]);

/** Runs and configuration versions stay with the workspace that they were first reported for. */
export const reportedElsewhere = (id: string) =>
  conflict("reported_elsewhere", `${id} was reported for another workspace before.`);
