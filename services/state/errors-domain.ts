import {
  AppError,
  badRequest,
  conflict,
  forbidden,
  invalid,
  notFound,
  precondition,
  unavailable,
} from "@statehouse/errors";

export const workspaceNotFound = () => notFound("workspace");
export const stateVersionNotFound = () => notFound("state version");
export const outputNotFound = () => notFound("state version output");

/** Thrown if the contents of two versions cannot be compared. */
export const statesNotComparable = (problem: string) => conflict("not_comparable", problem);

/** An organization token cannot hold a lock, so it cannot write state. */
export const organizationTokenWrites = () =>
  forbidden("organization_token", "An organization token is not allowed to write state.");

/** Thrown for the creation of a state version without a lock. */
export const workspaceNotLocked = () =>
  precondition(
    "workspace_not_locked",
    "The workspace must be locked by you before its state can be written.",
  );

/** Thrown for a rollback without a lock. It is a conflict, because the specification defines no 412 for rollbacks. */
export const rollbackWithoutLock = () =>
  conflict(
    "workspace_not_locked",
    "The workspace must be locked by you before it can be rolled back.",
  );

const holderNames: Record<string, string> = { user: "User", team: "Team", run: "Run" };

export const workspaceLockedByOther = (holder: { type: string; id: string }) =>
  conflict(
    "workspace_locked",
    `The workspace is locked by ${holderNames[holder.type] ?? "another process"} ${holder.id}; only the holder of the lock may write its state.`,
  );

/** The lock of this write was released before the write ended. */
export const lockSealed = () =>
  conflict("lock_sealed", "The lock under which this state was written has been released.");

export const serialConflict = (serial: bigint) =>
  conflict(
    "serial_conflict",
    `A state version with serial ${serial} but different content already exists under this lock.`,
  );

export const serialBehind = (serial: bigint, newest: bigint) =>
  conflict(
    "serial_conflict",
    `Serial ${serial} does not follow serial ${newest} of the newest state version.`,
  );

export const lineageConflict = () =>
  conflict(
    "lineage_conflict",
    "The lineage differs from the lineage of the workspace's newest state version.",
  );

/** A request may name only runs of its own workspace. */
export const runOfOtherWorkspace = () =>
  invalid([{ field: "run", detail: "Run belongs to another workspace" }]);

/** Thrown if a create request is a repeat, and its version has since been superseded or discarded. */
export const stateVersionSuperseded = () =>
  conflict(
    "state_version_superseded",
    "This state version was created before, and has been superseded or discarded since.",
  );

/**
 * Thrown for an unlock while a version awaits its content. Clients match the words
 * `latest state version is still pending`. The error is not a 409, which clients would treat as a lock of another
 * holder.
 */
export const stateVersionPending = () =>
  unavailable(
    "state_version_pending",
    "The latest state version is still pending; try again once its state is uploaded.",
  );

/** Has the kind `unavailable`, because clients then retry until the outputs are extracted. */
export const outputsNotProcessed = () =>
  unavailable(
    "outputs_not_processed",
    "The outputs of the current state version are still being processed.",
  );

export const stateVersionDiscarded = () =>
  conflict("state_version_discarded", "The state version was discarded; it accepts no content.");

/** Thrown for the JSON form of a finalized version whose upload window has ended, or of a rollback's copy. */
export const stateNotTaken = () =>
  conflict(
    "state_not_taken",
    "The state version is finalized and no longer accepts its JSON form.",
  );

/** Returns whether the error is `stateNotTaken`. */
export const isStateNotTaken = (error: unknown): boolean =>
  error instanceof AppError && error.reason === "state_not_taken";

/** Each upload URL accepts only the content that was uploaded to it first. */
export const uploadUsed = () =>
  conflict("upload_used", "This upload URL was used before, with other content.");

/** The bytes differ from those that the create request announced; the URL remains usable. */
export const md5Mismatch = () =>
  conflict(
    "md5_mismatch",
    "The MD5 digest of the content differs from the md5 of the state version.",
  );

/** The sweeper may already consider this upload's key ownerless. */
export const uploadTooSlow = () =>
  unavailable("upload_too_slow", "The upload took too long; repeat it.");

/** Thrown even if the same content is uploaded again: a response must not claim that a deleted state is stored. */
export const backingDataDeleted = () =>
  conflict(
    "backing_data_deleted",
    "The state version's data was deleted; the version accepts no content.",
  );

/** The specification's table "State version status" contains no transition for this action. */
export const transitionNotAllowed = (from: string, to: string) =>
  badRequest(
    "transition_not_allowed",
    `State version status transition not allowed: from ${from} to ${to}.`,
  );

export const currentVersionDeletion = (to: string) =>
  badRequest(
    "transition_not_allowed",
    `State version status transition not allowed: the workspace's current state version cannot become ${to}.`,
  );

/** Only a finalized version has contents that can be copied. */
export const rollbackWithoutContent = (status: string) =>
  conflict(
    "rollback_without_content",
    `The state version to roll back to is ${status}; only a finalized one can be copied.`,
  );

/** The source of a rollback must be a version of the same workspace. */
export const rollbackToOtherWorkspace = () =>
  invalid([
    {
      field: "rollbackStateVersionId",
      detail: "Rollback state version belongs to another workspace",
    },
  ]);

/** The next serial would exceed the largest integer that clients read exactly. */
export const serialsExhausted = () =>
  conflict(
    "serials_exhausted",
    "The newest state version has the highest possible serial; no serial can follow it.",
  );
