import { AppError, conflict, forbidden, invalid, quoted } from "@statehouse/errors";
import type { Holder } from "./ids.ts";

const holderTitles = { user: "User", team: "Team", run: "Run" } as const satisfies Record<
  Holder["type"],
  string
>;

/** The lock has a holder. The text contains the holder's id until the use case has read the name from access. */
export class LockConflict extends AppError {
  readonly holder: Holder;

  constructor(reason: string, holder: Holder, name: string) {
    // go-tfe matches "is locked by User", "… Team" and "… Run".
    super("conflict", reason, `The workspace is locked by ${holderTitles[holder.type]} ${name}.`);
    this.holder = holder;
  }

  /** The same conflict with the holder's name in its text. */
  named(name: string): LockConflict {
    return new LockConflict(this.reason, this.holder, name);
  }
}

/** Another holder has the lock. */
export const workspaceLockHeld = (holder: Holder) =>
  new LockConflict("workspace_locked", holder, holder.id);

/** Only the holder may unlock the workspace. */
export const workspaceLockedByOther = (holder: Holder) =>
  new LockConflict("locked_by_other", holder, holder.id);

/** A deletion blocks other callers until its lease ends. */
export const workspaceLockedForDeletion = () =>
  conflict("workspace_locked", "The workspace is locked while it is being deleted.");

/** Another caller took the workspace's lock after the deletion lock had ended; nothing changed. */
export const workspaceDeletionOvertaken = () =>
  conflict(
    "workspace_locked",
    "The workspace was locked by another caller before its deletion was complete.",
  );

export const reasonTooLong = (most: number) =>
  invalid([{ field: "reason", detail: `Reason is too long (maximum is ${most} characters)` }]);

export const workspaceAlreadyUnlocked = () =>
  conflict("already_unlocked", "The workspace is already unlocked.");

/** go-tfe searches the text for "locked" and "being processed": it must contain neither. */
export const workspaceManagesResources = (count: number) =>
  conflict(
    "manages_resources",
    `The workspace manages ${count} ${count === 1 ? "resource" : "resources"}; destroy them first, or force the deletion.`,
  );

/** The number of managed resources is not known yet. */
export const stateBeingProcessed = () =>
  conflict("state_being_processed", "The workspace's latest state is still being processed.");

/** An organization token identifies no user or team that could release the lock. */
export const lockHolderNotAllowed = () =>
  forbidden("cannot_hold_lock", "An organization token cannot hold a workspace's lock.");

/** The text that clients match, used for organizations, projects and workspaces. */
export const takenText = "Name has already been taken";

/** The name was free when the request was checked, and another request took it meanwhile. */
export const nameTaken = () => invalid([{ field: "name", detail: takenText }]);

/** A report that cannot be stored. */
export const reportInvalid = (field: string, detail: string) => invalid([{ field, detail }]);

/** A run or configuration version belongs to the workspace of its first report. */
export const reportedElsewhere = (id: string) =>
  conflict("reported_elsewhere", `${quoted(id)} was reported for another workspace before.`);

/** Runs and configuration versions belong to the runner that reported them first. */
export const reportedByOther = (id: string) =>
  conflict("reported_by_other", `${quoted(id)} was reported by another runner before.`);
