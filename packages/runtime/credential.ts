import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";

const BEARER = /^bearer +(\S+) *$/i;

/** Returns the bearer token of an Authorization header, if there is one. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? "")?.[1];

/**
 * Returns a digest of the request's bearer token, which identifies the token in rate limits; undefined if the request
 * has none.
 */
export function credentialKey({ headers }: IncomingMessage): string | undefined {
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : hash("sha256", token, "base64url");
}
