import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type webcrypto,
} from "node:crypto";

/** The end of the chain of one organization: its latest batch. */
export interface Head {
  /** The service that owns the records. */
  service: string;
  organization: string;
  /** The number of the batch, from 1. */
  number: number;
  /** The number of records in the batch. */
  records: number;
  /** ISO 8601 in UTC with milliseconds. */
  sealedAt: string;
  /** Hexadecimal SHA-256 over this batch and, through the previous hash, over all earlier ones. */
  hash: string;
}

/** A head with the signature of its service. */
export interface SignedHead extends Head {
  keyId: string;
  /** The Ed25519 signature in base64. */
  signature: string;
}

/** A key that signs or verifies assertions; `kid` is its id. */
export type Key = webcrypto.JsonWebKey & { kid?: string };

/** The public keys of each service, in the form of ASSERTION_PUBLIC_KEYS. */
export type PublicKeys = Readonly<Record<string, readonly Key[]>>;

/** The number of bytes of a digest. */
export const DIGEST_BYTES = 32;
/** The value that the first batch of a chain has as its previous hash. */
export const NO_PREVIOUS = Buffer.alloc(DIGEST_BYTES);

/** The place of a batch in its chain. */
export type Batch = Pick<Head, "service" | "organization" | "number"> & {
  previousHash: Uint8Array;
};

/**
 * Returns the hash of a batch: SHA-256 over its place in the chain, the hash of the previous batch and the digests of
 * its records, in order.
 */
export function hashOfBatch(batch: Batch, digests: Uint8Array): Buffer {
  const { service, organization, number, previousHash } = batch;
  const position = JSON.stringify([service, organization, number, digests.length / DIGEST_BYTES]);
  return createHash("sha256").update(position).update(previousHash).update(digests).digest();
}

/**
 * Returns the text that the signature of a head covers. The text begins with the purpose of the signature, because the
 * same key also signs assertions.
 */
const signedText = (head: Head): Buffer =>
  Buffer.from(
    JSON.stringify([
      "statehouse audit head",
      head.service,
      head.organization,
      head.number,
      head.records,
      head.sealedAt,
      head.hash,
    ]),
  );

/** Signs a head with a service's own key. */
export function signHead(head: Head, key: Key): SignedHead {
  const signature = sign(null, signedText(head), createPrivateKey({ key, format: "jwk" }));
  return { ...head, keyId: key.kid ?? "", signature: signature.toString("base64") };
}

/**
 * Checks the signature of a head. Returns `unknown key` if the keys of its service do not contain the key of the
 * signature.
 */
export function checkSignature(
  { keyId, signature, ...head }: SignedHead,
  keys: PublicKeys,
): "valid" | "invalid" | "unknown key" {
  const key = keys[head.service]?.find(({ kid }) => (kid ?? "") === keyId);
  if (!key) return "unknown key";
  const publicKey = createPublicKey({ key, format: "jwk" });
  const valid = verify(null, signedText(head), publicKey, Buffer.from(signature, "base64"));
  return valid ? "valid" : "invalid";
}
