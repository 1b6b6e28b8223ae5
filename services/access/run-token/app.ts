import { randomBytes } from "node:crypto";
import type { Caller, Grants, OrganizationGrants } from "@statehouse/authorization";
import { AppError, forbidden, isTransient } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { App } from "../app.ts";
import { runOfOther, tokenNotFound } from "../errors-domain.ts";
import type { RunId, RunTokenId, WorkspaceId } from "../ids-domain.ts";
import { hashOf, runSecretOf, SECRET_BYTES } from "../token/secret-domain.ts";
import { expiryOf, newRunToken, type RunToken, runPermissions } from "./domain.ts";
import { runTokenCreated, runTokenDeleted, runTokenRenewed } from "./store.ts";

/**
 * Returns the grants of a run, all of which are on the run's workspace. Returns undefined if no token was created for
 * the run, if all its tokens have expired, or if the run has ended.
 */
export async function findRunGrants(app: App, runId: string): Promise<Grants | undefined> {
  const bound = await app.reads.runTokens.findBinding(runId, app.now());
  if (!bound) return undefined;
  const { workspaceId, organizationId, versions } = bound;
  const organization: OrganizationGrants = {
    organizationId,
    owner: false,
    organizationAccess: new Set(),
    teamIds: [],
    projects: new Map(),
    workspaces: new Map([[workspaceId, [{ access: "custom", permissions: runPermissions }]]]),
    refused: false,
  };
  return {
    principal: { type: "run", id: runId },
    versions,
    administrator: false,
    organizations: new Map([[organizationId, organization]]),
  };
}

/**
 * Creates a token for a run. The run need not have been reported yet. Only this response contains the secret. Throws
 * `forbidden` if the caller is not a service, `notFound` for an unknown workspace, and a conflict if the run has ended
 * or belongs to another workspace or runner.
 */
export async function createRunToken(
  app: App,
  caller: Caller,
  { runId, workspaceId }: { runId: RunId; workspaceId: WorkspaceId },
): Promise<{ token: RunToken; secret: string }> {
  const runner = runnerOf(caller);
  const { organizationId, ...reported } = await app.workspaces.placeRun({ runId, workspaceId });
  if (reported.runner !== null && reported.runner !== runner) throw runOfOther();
  const now = app.now();
  await app.transaction((tx) => tx.runTokens.removeExpiredRuns(now));
  const secret = runSecretOf(randomBytes(SECRET_BYTES));
  const expiredAt = expiryOf(now, app.settings.runTokenLifetimeMs);
  const binding = { id: runId, workspaceId, organizationId, runner, expiredAt };
  const token = newRunToken(binding, hashOf(secret), now);
  await app.transaction(async (tx) => {
    const run = await tx.runTokens.bind(binding);
    if (run.runner !== runner || run.workspaceId !== workspaceId) throw runOfOther();
    tx.runTokens.save(token);
    await tx.record(runTokenCreated(token, run));
  });
  await endIfRunHasEnded(app, token, workspaceId);
  return { token, secret };
}

/**
 * Restarts the lifetime of a token. Throws `notFound` if the token has expired, is deleted or belongs to another
 * runner.
 */
export const renewRunToken = (app: App, caller: Caller, id: RunTokenId): Promise<RunToken> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const found = await tx.runTokens.findForUpdate(id, runnerOf(caller));
    if (!found || found.token.expiredAt <= now) throw tokenNotFound();
    const { token, run } = found;
    token.revision = nextVersion(token.revision, now);
    token.expiredAt = expiryOf(now, app.settings.runTokenLifetimeMs);
    if (run.expiredAt < token.expiredAt) run.expiredAt = token.expiredAt;
    tx.runTokens.save(token);
    await tx.record(runTokenRenewed(token, run));
    return token;
  });

/** Revokes a run token. Repeating the call changes nothing. */
export const deleteRunToken = (app: App, caller: Caller, id: RunTokenId): Promise<void> =>
  app.transaction(async (tx) => {
    const found = await tx.runTokens.findForUpdate(id, runnerOf(caller));
    if (!found) return;
    const { token, run } = found;
    const revision = nextVersion(token.revision, app.now());
    tx.runTokens.remove(token);
    await tx.record(runTokenDeleted(token, run, revision));
  });

/** Asks the workspaces service which of the runs `runIds` have ended, and deletes the tokens of the ended runs. */
export async function endEndedRuns(app: App, runIds: readonly RunId[]): Promise<void> {
  const bound = await app.reads.runTokens.listBound(runIds);
  if (bound.length === 0) return;
  await endRuns(app, await app.workspaces.listEndedRuns(bound));
}

/**
 * Asks the workspaces service which of the workspaces `workspaceIds` are deleted, and deletes the tokens of all runs in
 * the deleted workspaces.
 */
export async function endRunsOfDeletedWorkspaces(
  app: App,
  workspaceIds: readonly WorkspaceId[],
): Promise<void> {
  const bound = await app.reads.runTokens.listWorkspacesWithRuns(workspaceIds);
  if (bound.length === 0) return;
  const deleted = await app.workspaces.listDeletedWorkspaces(bound);
  await app.transaction((tx) => tx.runTokens.removeRunsOfWorkspaces(deleted));
}

const endRuns = (app: App, runIds: readonly RunId[]): Promise<void> =>
  app.transaction((tx) => tx.runTokens.removeRuns(runIds));

/**
 * Deletes the tokens of a run that ended while its token was created, and throws. The event of the run's end may have
 * been processed before the token existed, so the run is checked again after the commit. This is sufficient because the
 * workspaces service commits the end of a run before it publishes the event. If the workspaces service is unavailable,
 * throws and deletes no tokens.
 */
async function endIfRunHasEnded(
  app: App,
  { runId }: RunToken,
  workspaceId: WorkspaceId,
): Promise<void> {
  try {
    await app.workspaces.placeRun({ runId, workspaceId });
  } catch (error) {
    if (error instanceof AppError && !isTransient(error)) await endRuns(app, [runId]);
    throw error;
  }
}

function runnerOf(caller: Caller): string {
  if (caller.kind !== "service") throw forbidden("runners_only", "Only a runner may do this.");
  return caller.name;
}
