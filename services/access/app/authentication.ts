import { tokenRefused } from "../domain/errors.ts";
import type { TokenId } from "../domain/ids.ts";
import { hashOf, looksLikeRunSecret, looksLikeSecret } from "../domain/token-secret.ts";
import type { Authenticated } from "../store/authentication.ts";
import type { AuthenticatedRun } from "../store/run-token.ts";
import type { App } from "./app.ts";

/** The principal that a token authenticates, which can also be a run. */
interface AuthenticatedPrincipal {
  tokenId: string;
  type: string;
  id: string;
  versions: string;
}

/**
 * Returns the principal of a token. Throws `unauthenticated`. Runs a single SQL statement, because it is called for
 * every request.
 */
export async function authenticate(app: App, token: string): Promise<Authenticated> {
  if (!looksLikeSecret(token)) throw tokenRefused();
  const at = app.now();
  const found = await app.reads.authentication.find(hashOf(token), at);
  if (!found) throw tokenRefused();
  app.tokenUsage.note(found.tokenId, at);
  return found;
}

/**
 * Returns the principal of a token, which can be a run token, by its id. Throws `unauthenticated`. The token is not
 * presented by its owner, so its last use does not change.
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
 * Returns the principals of several tokens, in the order of the tokens; undefined for invalid ones. The tokens can be
 * run tokens. Runs one SQL statement, and one more for each run token.
 */
export async function batchAuthenticate(
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
