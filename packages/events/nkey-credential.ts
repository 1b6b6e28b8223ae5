import { createPublicKey, randomBytes, verify } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

/** The request for which a credential is valid. */
export interface SignedRequest {
  /** The address of the installation: scheme, host and port, without a path. */
  origin: string;
  /** The path and query of the request, exactly as they are sent. */
  target: string;
}

/**
 * The maximum difference, in seconds, between the time at which a credential was signed and the clock of the service. A
 * credential therefore expires this long after it was signed.
 */
export const CLOCK_DIFFERENCE_SECONDS = 300;

const PURPOSE = "statehouse-listing-v1";

const signedText = ({ origin, target }: SignedRequest, time: string, nonce: string): Uint8Array =>
  new TextEncoder().encode([PURPOSE, origin, target, time, nonce].join("\n"));

/** Returns the credential of a request, signed with the nkey of a subscriber. A credential is accepted only once. */
export function nkeyCredential(seed: string, request: SignedRequest, now = new Date()): string {
  const pair = nkeys.fromSeed(new TextEncoder().encode(seed.trim()));
  const time = String(Math.floor(now.getTime() / 1000));
  const nonce = randomBytes(16).toString("base64url");
  const signature = Buffer.from(pair.sign(signedText(request, time, nonce))).toString("base64url");
  return [pair.getPublicKey(), time, nonce, signature].join(".");
}

/** The content of a credential with a valid signature. Whether its key belongs to a subscriber is not yet checked. */
export interface VerifiedCredential {
  publicKey: string;
  /** A random text. The caller must check that it was not used before with this key. */
  nonce: string;
  /** The time at which the credential expires. After this time, the nonce need not be stored. */
  expiredAt: Date;
}

const CREDENTIAL = /^(U[A-Z2-7]{55})\.(\d{1,12})\.([\w-]{22,64})\.([\w-]{86})$/;

/**
 * Verifies the signature and the time of a credential. Returns undefined if one of them is wrong. The caller must check
 * the key and the nonce.
 */
export function verifyCredential(
  credential: string,
  request: SignedRequest,
  now: Date,
): VerifiedCredential | undefined {
  const [, publicKey = "", time = "", nonce = "", signature = ""] =
    CREDENTIAL.exec(credential) ?? [];
  if (publicKey === "") return undefined;
  const signedAt = Number(time) * 1000;
  const difference = Math.abs(now.getTime() - signedAt);
  if (difference > CLOCK_DIFFERENCE_SECONDS * 1000) return undefined;
  if (!isSignedBy(publicKey, signedText(request, time, nonce), signature)) return undefined;
  const expiredAt = new Date(signedAt + CLOCK_DIFFERENCE_SECONDS * 1000);
  return { publicKey, nonce, expiredAt };
}

/** Verifies a signature with Node's crypto module, because the NATS library takes a hundred times as long. */
function isSignedBy(publicKey: string, text: Uint8Array, signature: string): boolean {
  const x = keyOf(publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, text, key, Buffer.from(signature, "base64url"));
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the Ed25519 key in an nkey. An nkey is base32 of one byte, the key and a checksum. */
function keyOf(publicKey: string): Buffer {
  const bits = [...publicKey]
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  return Buffer.from(bytes.slice(1, 33));
}
