import { createHash } from "node:crypto";

/** So much randomness needs no slow hash: nobody can guess it, whatever a guess costs. */
export const SECRET_BYTES = 32;

const SECRET = /^sth_[A-Za-z0-9_-]{43}$/;

/** The text a client presents, of 32 random bytes. */
export const secretOf = (random: Uint8Array): string =>
  `sth_${Buffer.from(random).toString("base64url")}`;

const RUN_SECRET = /^sth_run_[A-Za-z0-9_-]{43}$/;

/** Likewise, for the processes of a run. */
export const runSecretOf = (random: Uint8Array): string =>
  `sth_run_${Buffer.from(random).toString("base64url")}`;

/** Whether a text can be the secret of a run's token: those are looked for elsewhere. */
export const looksLikeRunSecret = (text: string): boolean => RUN_SECRET.test(text);

/** What is stored of a secret. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Whether a text can be a secret of ours at all. */
export const looksLikeSecret = (text: string): boolean => SECRET.test(text);
