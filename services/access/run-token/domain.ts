import type { WorkspacePermissions } from "@statehouse/authorization";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, RunId, RunTokenId, WorkspaceId } from "../ids-domain.ts";

/** A run that has tokens. The tokens are bound to the run's workspace, organization and runner. */
export class Run {
  declare readonly id: RunId;
  declare readonly workspaceId: WorkspaceId;
  declare readonly organizationId: OrganizationId;
  /** The name of the runner that executes the run. No other runner may create, renew or delete the run's tokens. */
  declare readonly runner: string;
  /** The time at which the run's last token expires. */
  declare expiredAt: Date;
}

/** A credential for the processes of a run. The secret is returned once and not stored. */
export class RunToken {
  declare readonly id: RunTokenId;
  declare readonly runId: RunId;
  /** SHA-256 of the secret, in hex. */
  declare readonly hash: string;
  declare revision: bigint;
  declare expiredAt: Date;
}

export const newRunToken = (
  { id: runId, expiredAt }: Pick<Run, "id" | "expiredAt">,
  hash: string,
  at: Date,
): RunToken =>
  newRow(RunToken, { id: newId("at"), runId, hash, revision: nextVersion(0n, at), expiredAt });

/**
 * The permissions of a run on its workspace: it may read the workspace and its state, and may write state while it
 * holds the lock.
 */
export const runPermissions: Partial<WorkspacePermissions> = {
  "workspace-access.runs": "read",
  "workspace-access.state-versions": "write",
};

/** Returns the expiry of a token that is created or renewed now. */
export const expiryOf = (now: Date, lifetimeMs: number): Date =>
  new Date(now.getTime() + lifetimeMs);
