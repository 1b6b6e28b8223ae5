import type { UploadClaims } from "../domain/upload-token.ts";
import type { App } from "./app.ts";

/** What a content already has that an upload URL was used for. */
export interface StoredContent {
  sha256: string;
  size: number;
}

/**
 * `open`: takes the content; `md5` (hex) is the one announced, null for JSON.
 * `used`: it has its content; the same bytes again are 200 and nothing is stored, others `uploadUsed`.
 */
export type UploadOpening =
  | { outcome: "open"; md5: string | null }
  | { outcome: "used"; stored: StoredContent };

/** An attempt whose bytes are stored under a key of its own. Digests are lower-case hex. */
export interface UploadAttempt {
  blobKey: string;
  attemptStartedAt: Date;
  size: number;
  sha256: string;
  md5: string;
}

/** `alreadyStored`: the same content won before; the attempt's own blob has no owner. */
export type UploadOutcome = "stored" | "alreadyStored";

/** Whether the version still takes this content. Throws `notFound`, or the conflict `stateVersionDiscarded`. */
export declare function beginUpload(app: App, claims: UploadClaims): Promise<UploadOpening>;

/**
 * Gives the version the attempt's blob, in one transaction. Throws `notFound`, the conflicts
 * `stateVersionDiscarded`, `uploadUsed`, `lockSealed`, `md5Mismatch`, and `uploadTooSlow`.
 */
export declare function finishUpload(
  app: App,
  claims: UploadClaims,
  attempt: UploadAttempt,
): Promise<UploadOutcome>;
