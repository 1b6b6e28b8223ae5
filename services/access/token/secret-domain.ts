import { createHash } from "node:crypto";

/**
 * Number of random bytes in a secret. 256 random bits cannot be found by trying, so a fast hash function is sufficient.
 */
export const SECRET_BYTES = 32;

const SECRET = /^sth_[A-Za-z0-9_-]{43}$/;

/** Returns a token's secret, which clients send. It contains the 32 random bytes. */
export const secretOf = (random: Uint8Array): string =>
  `sth_${Buffer.from(random).toString("base64url")}`;

const RUN_SECRET = /^sth_run_[A-Za-z0-9_-]{43}$/;

/** Returns the secret of a run token. */
export const runSecretOf = (random: Uint8Array): string =>
  `sth_run_${Buffer.from(random).toString("base64url")}`;

/** Returns whether a string has the form of a run token's secret. Run tokens are stored in a separate table. */
export const looksLikeRunSecret = (text: string): boolean => RUN_SECRET.test(text);

/** Returns the hash of a secret; only the hash is stored. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Returns whether a string has the form of the secret of a user, team or organization token. */
export const looksLikeSecret = (text: string): boolean => SECRET.test(text);
