/** Node's error codes for a server certificate that is signed by an authority that the client does not trust. */
const codes: ReadonlySet<unknown> = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** Returns whether an error, or one of its causes, says that the authority of a server certificate is not trusted. */
export function isUntrustedAuthority(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codes.has(Reflect.get(error, "code")) || isUntrustedAuthority(error.cause);
}
