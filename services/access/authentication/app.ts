import type { Caller } from "@statehouse/authorization";
import { currentActor } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { tokenRefused } from "../errors-domain.ts";
import type { TokenId } from "../ids-domain.ts";
import { hashOf, looksLikeRunSecret, looksLikeSecret } from "../token/secret-domain.ts";

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
  const found = await authenticate(app, token);
  if (found) return found;
  const isOfGateway = caller.kind === "service" && caller.name === "gateway";
  if (isOfGateway) app.audit.signInFailed(currentActor()?.address);
  throw tokenRefused();
}

/**
 * Returns the principal of a token, which can be a run token; undefined if the token is invalid. Runs a single SQL
 * statement, because it is called for every request.
 */
async function authenticate(app: App, token: string): Promise<AuthenticatedPrincipal | undefined> {
  const at = app.now();
  if (looksLikeRunSecret(token)) return app.reads.runTokens.authenticate(hashOf(token), at);
  if (!looksLikeSecret(token)) return undefined;
  const found = await app.reads.authentication.find(hashOf(token), at);
  if (found) app.tokenUsage.note(found.tokenId, at);
  return found;
}

/**
 * Returns the principal of a token, which can be a run token, by its id. Throws `unauthenticated`. The time of the
 * token's last use does not change, because its owner has not sent the token.
 */
export async function authenticateTokenId(app: App, id: TokenId): Promise<AuthenticatedPrincipal> {
  const at = app.now();
  const found =
    (await app.reads.authentication.findByTokenId(id, at)) ??
    (await app.reads.runTokens.findByTokenId(id, at));
  if (!found) throw tokenRefused();
  return found;
}

/**
 * Returns the principals of several tokens, which can be run tokens, in the order of the tokens. For an invalid token,
 * returns undefined and counts the failure, as `signIn` does. Runs one SQL statement, and one more for each run token.
 */
export async function batchSignIn(
  app: App,
  presented: readonly { token: string; address: string | undefined }[],
): Promise<(AuthenticatedPrincipal | undefined)[]> {
  const at = app.now();
  const hashed = presented.map((one) => ({ ...one, hash: hashOf(one.token) }));
  const secrets = hashed.filter(({ token }) => looksLikeSecret(token));
  const found = await app.reads.authentication.batch(
    secrets.map(({ hash }) => hash),
    at,
  );
  for (const { tokenId } of found.values()) app.tokenUsage.note(tokenId, at);
  return Promise.all(
    hashed.map(async ({ token, address, hash }) => {
      const principal = looksLikeRunSecret(token)
        ? await app.reads.runTokens.authenticate(hash, at)
        : found.get(hash);
      if (!principal) app.audit.signInFailed(address);
      return principal;
    }),
  );
}

/** Records that the gateway refused a request of the current actor to a route. */
export const recordRefusal = (app: App, { route, code }: { route: string; code: string }): void =>
  app.audit.refused({ action: "route.request", resource: { type: "route", id: route }, code });
