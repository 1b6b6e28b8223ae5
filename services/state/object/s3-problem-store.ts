import { AppError } from "@statehouse/errors";
import { isUntrustedAuthority } from "@statehouse/runtime";
import type { S3Settings } from "./s3-connection-store.ts";

/** The operation that failed, in words that complete a sentence about an access key. */
export type S3Step =
  | "list the bucket"
  | "create the bucket"
  | "write objects"
  | "read objects"
  | "delete objects";

const wrongKeys = ["InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidTokenId", "InvalidToken"];
const denied = ["AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden"];
const refusedEncryption = [
  "NotImplemented",
  "InvalidArgument",
  "InvalidEncryptionAlgorithmError",
  "KMSNotConfigured",
  "KMS.NotFoundException",
  "kms:KeyNotFound",
];
const elsewhere = [
  "AuthorizationHeaderMalformed",
  "PermanentRedirect",
  "MovedPermanently",
  "IllegalLocationConstraintException",
  "InvalidRegion",
];
const unreachable = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** Returns why the store cannot be used, as one sentence that names the setting to check. */
export function s3Problem(
  error: unknown,
  { endpoint, bucket, region, addressing, accessKey, encryption }: S3Settings,
  step: S3Step,
): string {
  const cause = rootOf(error);
  // Errors that the minio client itself creates have a name but no code.
  const code = textOf(cause, "code") || textOf(cause, "name");
  const is = (codes: readonly string[]) => codes.includes(code);
  if (code === "CredentialsProviderError") {
    return `No credentials for ${endpoint} were found (S3_CREDENTIALS=aws): ${textOf(cause, "message")}`;
  }
  if (is(wrongKeys)) {
    return accessKey === undefined
      ? `${endpoint} refuses the credentials that were found (S3_CREDENTIALS=aws): ${code}.`
      : `${endpoint} refuses S3_ACCESS_KEY and S3_SECRET_KEY: one of them is wrong.`;
  }
  if (is(denied)) {
    const key = accessKey === undefined ? "the credentials" : "S3_ACCESS_KEY";
    return `${endpoint} does not allow ${key} to ${step}; this is required in the bucket ${bucket}.`;
  }
  if (encryption && step === "write objects" && is(refusedEncryption)) {
    return `${endpoint} cannot encrypt as S3_ENCRYPTION=${encryption.algorithm} requires (${code}).`;
  }
  if (code === "NoSuchBucket") return `There is no bucket ${bucket} at ${endpoint} (S3_BUCKET).`;
  if (is(["InvalidBucketName", "InvalidBucketNameError"])) {
    return `S3_BUCKET cannot be ${bucket}: it is not a valid bucket name.`;
  }
  if (is(elsewhere)) {
    const named = textOf(cause, "region");
    return `The bucket ${bucket} is not in the region ${region}: set S3_REGION${named ? ` to ${named}` : ""}.`;
  }
  if (code === "RequestTimeTooSkewed") return `The clocks of ${endpoint} and of this host differ.`;
  if (isUntrustedAuthority(cause)) {
    return `The certificate of ${endpoint} is signed by an authority that is not trusted here (${code}); set S3_CA_FILE to a file with that authority's certificate.`;
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `The certificate of ${endpoint} is issued for another name${ofAddressing(addressing)}.`;
  }
  if (code === "CERT_HAS_EXPIRED") return `The certificate of ${endpoint} has expired.`;
  if (code === "EPROTO")
    return `${endpoint} does not use TLS: S3_ENDPOINT should begin with http:.`;
  if (is(["ENOTFOUND", "EAI_AGAIN"])) {
    return `The name in ${endpoint} cannot be resolved${ofAddressing(addressing)}.`;
  }
  if (is(unreachable)) return `${endpoint} does not respond (${code}).`;
  return `${endpoint} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`;
}

const ofAddressing = (addressing: S3Settings["addressing"]): string =>
  addressing === "virtual-host"
    ? "; with S3_ADDRESSING=virtual-host the name is that of the bucket, <bucket>.<host>"
    : "";

/**
 * Returns the outermost error that has a code, or else the innermost error. Statehouse and undici wrap errors, and an
 * AggregateError contains several attempts.
 */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  const hasCode = textOf(error, "code") !== "" && !(error instanceof AppError);
  if (hasCode || !(error instanceof Error) || error.cause === undefined) return error;
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

function textOf(error: unknown, name: string): string {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
  return typeof value === "string" ? value : "";
}
