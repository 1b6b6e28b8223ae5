import { tokenRefused } from "../domain/errors.ts";
import { hashOf, looksLikeRunSecret, looksLikeSecret } from "../domain/token-secret.ts";
import type { Authenticated } from "../store/authentication.ts";
import type { App } from "./app.ts";

/** Whom a token speaks for, runs among them. */
interface AuthenticatedPrincipal {
  tokenId: string;
  type: string;
  id: string;
  versions: string;
}

/** Says whom a token speaks for. Throws `unauthenticated`. One statement: it is on every request's path. */
export async function authenticate(app: App, token: string): Promise<Authenticated> {
  if (!looksLikeSecret(token)) throw tokenRefused();
  const at = app.now();
  const found = await app.reads.authentication.find(hashOf(token), at);
  if (!found) throw tokenRefused();
  app.tokenUsage.note(found.tokenId, at);
  return found;
}

/**
 * The same of tokens that come at once, those of runs among them, in their order; undefined for what is
 * refused. One statement, and one for each run.
 */
export async function batchAuthenticate(
  app: App,
  tokens: readonly string[],
): Promise<(AuthenticatedPrincipal | undefined)[]> {
  const at = app.now();
  const asked = tokens.map((token) => ({ token, hash: hashOf(token) }));
  const secrets = asked.filter(({ token }) => looksLikeSecret(token));
  const found = await app.reads.authentication.batch(
    secrets.map(({ hash }) => hash),
    at,
  );
  for (const { tokenId } of found.values()) app.tokenUsage.note(tokenId, at);
  return Promise.all(
    asked.map(async ({ token, hash }) => {
      if (!looksLikeRunSecret(token)) return found.get(hash);
      const run = await app.reads.runTokens.authenticate(hash, at);
      return run && { ...run, type: "run", id: run.runId };
    }),
  );
}
