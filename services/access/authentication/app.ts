import type { Caller } from "@statehouse/authorization";
import { AppError } from "@statehouse/errors";
import { currentActor } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { tokenRefused } from "../errors-domain.ts";
import type { TokenId } from "../ids-domain.ts";
import { authenticateRun } from "../run-token/app.ts";
import type { AuthenticatedRun } from "../run-token/store.ts";
import { hashOf, looksLikeRunSecret, looksLikeSecret } from "../token/secret-domain.ts";
import type { Authenticated } from "./store.ts";

/** The principal that a token authenticates, which can also be a run. */
export interface AuthenticatedPrincipal {
  tokenId: string;
  type: string;
  id: string;
  versions: string;
}

/**
 * Returns the principal of a token, which can be a run token. Throws `unauthenticated`; if the gateway called, also
 * counts the failure in the audit trail, under the address of the gateway's client. The state service records the
 * failures of its own clients.
 */
export async function signIn(
  app: App,
  caller: Caller,
  token: string,
): Promise<AuthenticatedPrincipal> {
  try {
    if (!looksLikeRunSecret(token)) return await authenticate(app, token);
    return principalOf(await authenticateRun(app, token));
  } catch (error) {
    const isRefused = error instanceof AppError && error.kind === "unauthenticated";
    const isOfGateway = caller.kind === "service" && caller.name === "gateway";
    if (isRefused && isOfGateway) await app.audit.signInFailed(currentActor()?.address);
    throw error;
  }
}

/**
 * Returns the principal of a token. Throws `unauthenticated`. Runs a single SQL statement, because it is called for
 * every request.
 */
async function authenticate(app: App, token: string): Promise<Authenticated> {
  if (!looksLikeSecret(token)) throw tokenRefused();
  const at = app.now();
  const found = await app.reads.authentication.find(hashOf(token), at);
  if (!found) throw tokenRefused();
  app.tokenUsage.note(found.tokenId, at);
  return found;
}

/**
 * Returns the principal of a token, which can be a run token, by its id. Throws `unauthenticated`. The time of the
 * token's last use does not change, because its owner has not sent the token.
 */
export async function authenticateTokenId(app: App, id: TokenId): Promise<AuthenticatedPrincipal> {
  const at = app.now();
  const found = await app.reads.authentication.findByTokenId(id, at);
  if (found) return found;
  const run = await app.reads.runTokens.findByTokenId(id, at);
  if (!run) throw tokenRefused();
  return principalOf(run);
}

/**
 * Returns the principals of several tokens, in the order of the tokens. For an invalid token, returns undefined and
 * counts the failure, as `signIn` does.
 */
export async function batchSignIn(
  app: App,
  presented: readonly { token: string; address: string | undefined }[],
): Promise<(AuthenticatedPrincipal | undefined)[]> {
  const all = await batchAuthenticate(
    app,
    presented.map(({ token }) => token),
  );
  const failed = presented.filter((_, index) => !all[index]);
  await Promise.all(failed.map(({ address }) => app.audit.signInFailed(address)));
  return all;
}

/** Records that the gateway refused a request of the current actor to a route. */
export const recordRefusal = (
  app: App,
  { route, code }: { route: string; code: string },
): Promise<void> =>
  app.audit.refused({ action: "route.request", resource: { type: "route", id: route }, code });

/**
 * Returns the principals of several tokens, in the order of the tokens; undefined for invalid ones. The tokens can be
 * run tokens. Runs one SQL statement, and one more for each run token.
 */
async function batchAuthenticate(
  app: App,
  tokens: readonly string[],
): Promise<(AuthenticatedPrincipal | undefined)[]> {
  const at = app.now();
  const presented = tokens.map((token) => ({ token, hash: hashOf(token) }));
  const secrets = presented.filter(({ token }) => looksLikeSecret(token));
  const found = await app.reads.authentication.batch(
    secrets.map(({ hash }) => hash),
    at,
  );
  for (const { tokenId } of found.values()) app.tokenUsage.note(tokenId, at);
  return Promise.all(
    presented.map(async ({ token, hash }) => {
      if (!looksLikeRunSecret(token)) return found.get(hash);
      const run = await app.reads.runTokens.authenticate(hash, at);
      return run && principalOf(run);
    }),
  );
}

const principalOf = ({ tokenId, runId, versions }: AuthenticatedRun): AuthenticatedPrincipal => ({
  tokenId,
  type: "run",
  id: runId,
  versions,
});
