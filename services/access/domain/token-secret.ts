import { createHash } from "node:crypto";

/** 256 random bits cannot be guessed, so a slow hash is not needed. */
export const SECRET_BYTES = 32;

const SECRET = /^sth_[A-Za-z0-9_-]{43}$/;

/** The text that a client sends; it contains 32 random bytes. */
export const secretOf = (random: Uint8Array): string =>
  `sth_${Buffer.from(random).toString("base64url")}`;

const RUN_SECRET = /^sth_run_[A-Za-z0-9_-]{43}$/;

/** The secret of a run token. */
export const runSecretOf = (random: Uint8Array): string =>
  `sth_run_${Buffer.from(random).toString("base64url")}`;

/** True if the text has the form of a run token's secret; run tokens are in a separate table. */
export const looksLikeRunSecret = (text: string): boolean => RUN_SECRET.test(text);

/** The form in which a secret is stored. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** True if the text has the form of the secret of a user, team or organization token. */
export const looksLikeSecret = (text: string): boolean => SECRET.test(text);
