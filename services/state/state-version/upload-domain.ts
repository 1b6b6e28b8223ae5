import {
  backingDataDeleted,
  md5Mismatch,
  stateNotTaken,
  stateVersionDiscarded,
  uploadTooSlow,
  uploadUsed,
} from "../errors-domain.ts";
import { awaitsContent, isDeleted, type StateVersion, type VersionContents } from "./domain.ts";
import type { ContentKind } from "./upload-token-domain.ts";

/** A stored content of a version. */
export interface StoredContent {
  blobKey: string;
  sha256: string;
  size: number;
}

/** Returns the version's content of this kind; undefined if it is not stored. */
export function contentOf(version: VersionContents, kind: ContentKind): StoredContent | undefined {
  const [blobKey, sha256, size] =
    kind === "raw"
      ? [version.blobKey, version.sha256, version.size]
      : [version.jsonBlobKey, version.jsonSha256, version.jsonSize];
  if (blobKey === null || sha256 === null || size === null) return undefined;
  return { blobKey, sha256, size: Number(size) };
}

/**
 * Returns whether a version that has no content of this kind still accepts it. Raw state finalizes the version; the
 * JSON form may be uploaded before the raw state, after it, or never.
 */
export const acceptsContent = (
  version: Pick<StateVersion, "status" | "expiresAt">,
  kind: ContentKind,
  now: Date,
): boolean =>
  awaitsContent(version, now) ||
  (kind === "json" && version.status === "finalized" && version.expiresAt > now);

/** Throws `backingDataDeleted` for a version whose contents are deleted, softly or permanently. */
export function requireUndeleted(version: Pick<StateVersion, "status">): void {
  if (isDeleted(version)) throw backingDataDeleted();
}

/**
 * Throws `stateVersionDiscarded` if the version no longer accepts the content, or `stateNotTaken` if it is finalized.
 */
export function requireOpen(
  version: Pick<StateVersion, "status" | "expiresAt">,
  kind: ContentKind,
  now: Date,
): void {
  if (acceptsContent(version, kind, now)) return;
  throw version.status === "finalized" ? stateNotTaken() : stateVersionDiscarded();
}

/** One attempt to upload bytes. Each attempt stores its bytes under its own key. Digests are lower-case hex. */
export interface Attempt {
  attemptStartedAt: Date;
  blobKey: string;
  size: number;
  sha256: string;
  md5: string;
}

/** Throws `uploadUsed` if the attempt's bytes differ from the stored ones. */
export function requireSameContent(
  stored: StoredContent,
  attempt: Pick<Attempt, "sha256" | "size">,
): void {
  if (stored.sha256 !== attempt.sha256 || stored.size !== attempt.size) throw uploadUsed();
}

/** Throws `uploadTooSlow` if the upload took more than half the sweeper's grace period. */
export function requireFresh(attempt: Attempt, graceMs: number, now: Date): void {
  if (now.getTime() - attempt.attemptStartedAt.getTime() > graceMs / 2) throw uploadTooSlow();
}

/**
 * Returns the latest time at which an attempt may commit, in epoch ms: three quarters of the grace period. The sweeper
 * may delete the key after the grace period, so the key must not get a row then; the last quarter covers clock
 * differences.
 */
export const commitDeadline = ({ attemptStartedAt }: Attempt, graceMs: number): number =>
  attemptStartedAt.getTime() + graceMs * 0.75;

/** Stores the raw state of a pending version and makes its extraction due. Throws `md5Mismatch`. */
export function finalize(version: StateVersion, attempt: Attempt, now: Date): void {
  if (attempt.md5 !== version.md5) throw md5Mismatch();
  version.status = "finalized";
  version.blobKey = attempt.blobKey;
  version.size = BigInt(attempt.size);
  version.sha256 = attempt.sha256;
  version.extractionDueAt = now;
}

/** Stores the JSON form of a version. */
export function attachJson(version: StateVersion, attempt: Attempt): void {
  version.jsonBlobKey = attempt.blobKey;
  version.jsonSize = BigInt(attempt.size);
  version.jsonSha256 = attempt.sha256;
}
