import { randomBytes } from "node:crypto";
import type { Caller, Grants, OrganizationGrants } from "@statehouse/authorization";
import { AppError, forbidden, isTransient } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { noSuchPrincipal, noSuchRunToken, runOfOther, tokenRefused } from "../domain/errors.ts";
import type { RunId, RunTokenId, WorkspaceId } from "../domain/ids.ts";
import { expiryOf, type RunToken, runPermissions } from "../domain/run-token.ts";
import { hashOf, runSecretOf, SECRET_BYTES } from "../domain/token-secret.ts";
import type { AuthenticatedRun } from "../store/run-token.ts";
import type { App } from "./app.ts";

/** Returns the run of a token. Throws `unauthenticated`. */
export async function authenticateRun(app: App, secret: string): Promise<AuthenticatedRun> {
  const found = await app.reads.runTokens.authenticate(hashOf(secret), app.now());
  if (!found) throw tokenRefused();
  return found;
}

/** The grants of a run: on its own workspace only. Throws `notFound`. */
export async function getRunGrants(app: App, runId: string): Promise<Grants> {
  const bound = await app.reads.runTokens.binding(runId, app.now());
  if (!bound) throw noSuchPrincipal();
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
 * A token for a run that may not have been reported yet. Only this response contains the secret. Throws `notFound` for
 * an unknown workspace, and a conflict if the run has ended or is another runner's.
 */
export async function createRunToken(
  app: App,
  caller: Caller,
  { runId, workspaceId }: { runId: RunId; workspaceId: WorkspaceId },
): Promise<{ token: RunToken; secret: string }> {
  const runner = runnerOf(caller);
  const organizationId = await app.placeRun({ runId, workspaceId });
  const now = app.now();
  await app.reads.runTokens.dropExpired(now);
  const secret = runSecretOf(randomBytes(SECRET_BYTES));
  const token: RunToken = {
    id: newId("at"),
    runId,
    hash: hashOf(secret),
    revision: nextVersion(0n, now),
    expiredAt: expiryOf(now, app.settings.runTokenLifetimeMs),
  };
  await app.transaction(async (tx) => {
    const wanted = { id: runId, workspaceId, organizationId, runner };
    const run = await tx.runTokens.bind(wanted, token.expiredAt);
    if (run.runner !== runner || run.workspaceId !== workspaceId) throw runOfOther();
    await tx.runTokens.add(token);
    await tx.record({ type: "runTokenCreated", token, run, revision: token.revision });
  });
  await endIfRunHas(app, token, workspaceId);
  return { token, secret };
}

/** Starts the lifetime of a token again. Throws `notFound` if it is no longer valid or belongs to another runner. */
export const renewRunToken = (app: App, caller: Caller, id: RunTokenId): Promise<RunToken> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const found = await tx.runTokens.findForUpdate(id, runnerOf(caller));
    if (!found || found.token.expiredAt <= now) throw noSuchRunToken();
    const revision = nextVersion(found.token.revision, now);
    const expiredAt = expiryOf(now, app.settings.runTokenLifetimeMs);
    const token = { ...found.token, revision, expiredAt };
    await tx.runTokens.save(token);
    await tx.record({ type: "runTokenRenewed", token, run: found.run, revision });
    return token;
  });

/** Revokes a token; without effect if it is already revoked. */
export const deleteRunToken = (app: App, caller: Caller, id: RunTokenId): Promise<void> =>
  app.transaction(async (tx) => {
    const found = await tx.runTokens.findForUpdate(id, runnerOf(caller));
    if (!found) return;
    const { token, run } = found;
    await tx.runTokens.delete(id);
    const revision = nextVersion(token.revision, app.now());
    await tx.record({ type: "runTokenDeleted", token, run, revision });
  });

/** The run has ended: revokes its tokens. */
export const endRun = (app: Pick<App, "reads">, runId: string): Promise<void> =>
  app.reads.runTokens.dropRun(runId);

/** The workspace is deleted, and its runs with it. */
export const endRunsOf = (app: Pick<App, "reads">, workspaceId: string): Promise<void> =>
  app.reads.runTokens.dropWorkspace(workspaceId);

/**
 * The run can end while its token is being created, and its event can be processed before the token exists. Workspaces
 * knows every end before it publishes the event, so the run is checked again after the commit.
 */
async function endIfRunHas(app: App, { runId }: RunToken, workspaceId: WorkspaceId): Promise<void> {
  try {
    await app.placeRun({ runId, workspaceId });
  } catch (error) {
    if (error instanceof AppError && !isTransient(error)) await endRun(app, runId);
    throw error;
  }
}

function runnerOf(caller: Caller): string {
  if (caller.kind !== "service") throw forbidden("runners_only", "Only a runner may do this.");
  return caller.name;
}
