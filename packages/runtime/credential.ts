import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bearerToken } from "./bearer-token.ts";

/**
 * Returns a digest of the request's bearer token, which identifies the token in rate limits; undefined if the request
 * has none.
 */
export function credentialKey({ headers }: IncomingMessage): string | undefined {
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : hash("sha256", token, "base64url");
}
