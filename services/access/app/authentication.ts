import { tokenRefused } from "../domain/errors.ts";
import { hashOf, looksLikeSecret } from "../domain/token-secret.ts";
import type { Authenticated } from "../store/authentication.ts";
import type { App } from "./app.ts";

/** Says whom a token speaks for. Throws `unauthenticated`. One statement: it is on every request's path. */
export async function authenticate(app: App, token: string): Promise<Authenticated> {
  if (!looksLikeSecret(token)) throw tokenRefused();
  const at = app.now();
  const found = await app.reads.authentication.find(hashOf(token), at);
  if (!found) throw tokenRefused();
  app.tokenUsage.note(found.tokenId, at);
  return found;
}
