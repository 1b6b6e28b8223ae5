import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bearerToken, nkeyCredentialOf } from "./bearer-token.ts";

/**
 * Returns a digest of the request's bearer token or public nkey, which identifies the credential in rate limits;
 * undefined if the request has neither.
 */
export function credentialKey({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers;
  // The signature differs in each request, so only the credential's first part, the public key, is used.
  const token = bearerToken(authorization) ?? nkeyCredentialOf(authorization)?.split(".")[0];
  return token === undefined ? undefined : hash("sha256", token, "base64url");
}
