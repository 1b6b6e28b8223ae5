import {
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

/** An organization's token speaks for nobody who could hold the lock. */
export const organizationTokenWrites = () =>
  forbidden("organization_token", "An organization token may not write state.");

/** Create while nobody holds the lock; wire-compatibility, section 4. */
export const workspaceNotLocked = () =>
  precondition(
    "workspace_not_locked",
    "The workspace must be locked by you before its state can be written.",
  );

/** The same at a rollback, to which the specification gives no 412. */
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

/** The lock that the write relied on was given back in the meantime. */
export const lockSealed = () =>
  conflict("lock_sealed", "The lock under which this state was written has been released.");

export const serialConflict = (serial: bigint, newest: bigint) =>
  conflict(
    "serial_conflict",
    `A state version with serial ${newest} exists under this lock; serial ${serial} with other content does not follow it.`,
  );

export const serialBehind = (serial: bigint, newest: bigint) =>
  conflict(
    "serial_conflict",
    `Serial ${serial} does not follow serial ${newest} of the newest state version.`,
  );

export const lineageConflict = () =>
  conflict("lineage_conflict", "The lineage is not that of the workspace's newest state version.");

/** A state is written by a run of its own workspace. */
export const runOfOtherWorkspace = () =>
  invalid([{ field: "/data/relationships/run", detail: "Run belongs to another workspace" }]);

/** A repeat of a create request whose version is no longer the newest, or was discarded. */
export const stateVersionSuperseded = () =>
  conflict(
    "state_version_superseded",
    "This state version was created before, and has been superseded or discarded since.",
  );

/** Unlock while a version waits for its bytes. A 409 here is taken for a foreign lock by clients. */
export const stateVersionPending = () =>
  unavailable(
    "state_version_pending",
    "The latest state version is still pending: latest state version is still pending; try again once its state is uploaded.",
  );

/** Clients retry what is unavailable until the outputs are there. */
export const outputsNotProcessed = () =>
  unavailable(
    "outputs_not_processed",
    "The outputs of the current state version are still being processed.",
  );

export const stateVersionDiscarded = () =>
  conflict("state_version_discarded", "The state version was discarded; it takes no content.");

/** One content for each upload URL. */
export const uploadUsed = () =>
  conflict("upload_used", "This upload URL was used before, with other content.");

/** The bytes are not those that the create request announced; the URL stays usable. */
export const md5Mismatch = () =>
  conflict("md5_mismatch", "The content does not have the md5 of the create request.");

/** So slow that the sweeper might already take its blob for an ownerless one. */
export const uploadTooSlow = () =>
  unavailable("upload_too_slow", "The upload took too long; repeat it.");

/** What is deleted takes no content, not even its own again: no answer claims a state that is not kept. */
export const backingDataDeleted = () =>
  conflict("backing_data_deleted", "The state version's data was deleted; it takes no content.");

/** A refused action of the specification's table "State version status". */
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

/** A copy needs something to copy. */
export const rollbackWithoutContent = (status: string) =>
  conflict(
    "rollback_without_content",
    `The state version to roll back to is ${status}; only a finalized one can be copied.`,
  );

/** A rollback goes back in the workspace's own history. */
export const rollbackToOtherWorkspace = () =>
  invalid([
    {
      field: "/data/relationships/rollback-state-version",
      detail: "Rollback state version belongs to another workspace",
    },
  ]);

/** Above the largest serial that clients read exactly. */
export const serialsExhausted = () =>
  conflict("serials_exhausted", "No serial follows that of the newest state version.");
