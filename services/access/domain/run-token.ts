import type { WorkspacePermissions } from "@statehouse/authorization";
import type { OrganizationId, RunId, RunTokenId, WorkspaceId } from "./ids.ts";

/** A run that has tokens. They are bound to all of these fields. */
export class Run {
  declare readonly id: RunId;
  declare readonly workspaceId: WorkspaceId;
  declare readonly organizationId: OrganizationId;
  /** The service that executes the run: no other service creates, renews or deletes its tokens. */
  declare readonly runner: string;
  /** When the run's last token expires. */
  declare expiredAt: Date;

  constructor(fields: Run) {
    Object.assign(this, fields);
  }
}

/** A credential for the processes of a run. Its secret is shown once and not stored. */
export class RunToken {
  declare readonly id: RunTokenId;
  declare readonly runId: RunId;
  /** SHA-256 of the secret, in hex. */
  declare readonly hash: string;
  declare revision: bigint;
  declare expiredAt: Date;

  constructor(fields: RunToken) {
    Object.assign(this, fields);
  }
}

/**
 * Architecture, "Run tokens": a run can read its workspace and its state, and can write the state under the run's
 * lock.
 */
export const runPermissions: Partial<WorkspacePermissions> = {
  "workspace-access.runs": "read",
  "workspace-access.state-versions": "write",
};

/** When a token that is created or renewed now expires. */
export const expiryOf = (now: Date, lifetimeMs: number): Date =>
  new Date(now.getTime() + lifetimeMs);

export const runTokenCreated = (token: RunToken, run: Run) =>
  ({ type: "runTokenCreated", revision: token.revision, token, run }) as const;

export const runTokenRenewed = (token: RunToken) =>
  ({ type: "runTokenRenewed", revision: token.revision, token }) as const;

export const runTokenDeleted = (token: RunToken, revision: bigint) =>
  ({ type: "runTokenDeleted", revision, token }) as const;

export type RunTokenEvent = ReturnType<
  typeof runTokenCreated | typeof runTokenRenewed | typeof runTokenDeleted
>;
