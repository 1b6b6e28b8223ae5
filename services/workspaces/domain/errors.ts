import { AppError, badRequest, conflict, forbidden, invalid, notFound } from "@statehouse/errors";
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

/** Only what is empty can go. */
export const projectNotEmpty = () =>
  conflict("project_not_empty", "The project has workspaces; delete or move them first.");

/** Workspaces that name no project are made in it. */
export const defaultProjectNotDeletable = () =>
  conflict("default_project", "The default project cannot be deleted.");

/** Something still refers to the pool. */
export const agentPoolInUse = () =>
  conflict(
    "agent_pool_in_use",
    "The agent pool is used by a workspace, a project or an organization.",
  );

/** Organizations belong to people. */
export const organizationCreatorNotUser = () =>
  forbidden("users_only", "Only a user can create an organization.");

/** A list is asked for in an order that it does not have. */
export const sortUnknown = (keys: readonly string[]) =>
  badRequest("sort", `sort must be one of ${keys.join(", ")}, with a leading - to reverse it.`);

export const planUnknown = () => invalid([{ field: "plan", detail: "Plan is invalid" }]);

/** The text clients match, for organizations, projects and workspaces alike. */
export const takenText = "Name has already been taken";

/** Lost the race for a name that was free when the request was checked. */
export const nameTaken = () => invalid([{ field: "name", detail: takenText }]);

export const organizationNotFound = () => notFound("organization");
export const projectNotFound = () => notFound("project");
export const workspaceNotFound = () => notFound("workspace");
export const runNotFound = () => notFound("run");
export const agentPoolNotFound = () => notFound("agent pool");
export const sshKeyNotFound = () => notFound("SSH key");
export const dataRetentionPolicyNotFound = () => notFound("data retention policy");
export const reservedTagKeyNotFound = () => notFound("reserved tag key");
export const tagNotFound = () => notFound("tag");

/** While everybody of the organization may read, there is no set to change. */
export const globalRemoteStateEnabled = () =>
  invalid([
    {
      field: "consumerIds",
      detail:
        "Remote state consumers cannot be changed while global remote state sharing is enabled",
    },
  ]);

/** A report that no rule can make sense of; its event becomes a dead letter. */
export const reportInvalid = (what: string) =>
  invalid([{ field: what, detail: `${what} is invalid` }]);

/** A run writes and locks the workspace that it was reported for, and no other. */
export const runOfOtherWorkspace = () =>
  conflict("run_of_other_workspace", "The run belongs to another workspace.");

/** What a run may do ends with it. */
export const runAlreadyEnded = () => conflict("run_ended", "The run has ended.");

/** Runs and configuration versions stay with the workspace that they were first reported for. */
export const reportedElsewhere = (id: string) =>
  conflict("reported_elsewhere", `${id} was reported for another workspace before.`);
