import type { WorkspacePermissions } from "@statehouse/authorization";
import type { OrganizationId, RunId, RunTokenId, WorkspaceId } from "./ids.ts";

/** What a run's tokens are bound to; they work for nobody else and nothing else. */
export interface Run {
  id: RunId;
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  /** The service that executes it: nobody else gets, renews or ends its tokens. */
  runner: string;
}

/** A credential for the processes of a run. Its secret is shown once and not kept. */
export interface RunToken {
  id: RunTokenId;
  runId: RunId;
  /** sha-256 of the secret, in hex. */
  hash: string;
  revision: bigint;
  expiredAt: Date;
}

/** Architecture, "Run tokens": it shows the workspace, reads its state, and writes it under the run's lock. */
export const runPermissions: Partial<WorkspacePermissions> = {
  "workspace-access.runs": "read",
  "workspace-access.state-versions": "write",
};

/** When a token ends that is made or renewed now. */
export const expiryOf = (now: Date, lifetimeMs: number): Date =>
  new Date(now.getTime() + lifetimeMs);
