import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bearerToken, nkeyCredentialOf } from "./bearer-token.ts";

/**
 * Returns a digest of the request's bearer token or public nkey, which identifies it in rate limits; undefined without
 * both.
 */
export function credentialKey({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers;
  // Each request has another signature: its first part is the public key.
  const token = bearerToken(authorization) ?? nkeyCredentialOf(authorization)?.split(".")[0];
  return token === undefined ? undefined : hash("sha256", token, "base64url");
}
