import {
  backingDataDeleted,
  md5Mismatch,
  stateVersionDiscarded,
  uploadTooSlow,
  uploadUsed,
} from "./errors.ts";
import { awaitsContent, isDeleted, type StateVersion } from "./state-version.ts";
import type { ContentKind } from "./upload-token.ts";

/** A content that a version has. */
export interface StoredContent {
  blobKey: string;
  sha256: string;
  size: number;
}

/** The version's content of this kind, if it has it. */
export function contentOf(
  version: Pick<
    StateVersion,
    "blobKey" | "sha256" | "size" | "jsonBlobKey" | "jsonSha256" | "jsonSize"
  >,
  kind: ContentKind,
): StoredContent | undefined {
  const [blobKey, sha256, size] =
    kind === "raw"
      ? [version.blobKey, version.sha256, version.size]
      : [version.jsonBlobKey, version.jsonSha256, version.jsonSize];
  if (blobKey === null || sha256 === null || size === null) return undefined;
  return { blobKey, sha256, size: Number(size) };
}

/**
 * Whether the version still takes a content that it does not have. Raw state finalizes; JSON may come
 * before it, after it, or never.
 */
export const takesContent = (
  version: Pick<StateVersion, "status" | "expiresAt">,
  kind: ContentKind,
  now: Date,
): boolean =>
  awaitsContent(version, now) ||
  (kind === "json" && version.status === "finalized" && version.expiresAt > now);

/** Refuses every content for a version whose own was deleted, also what may be restored. */
export function requireUndeleted(version: Pick<StateVersion, "status">): void {
  if (isDeleted(version)) throw backingDataDeleted();
}

/** Refuses content for a version that no longer takes any. */
export function requireOpen(
  version: Pick<StateVersion, "status" | "expiresAt">,
  kind: ContentKind,
  now: Date,
): void {
  if (!takesContent(version, kind, now)) throw stateVersionDiscarded();
}

export interface Attempt {
  attemptStartedAt: Date;
  size: number;
  sha256: string;
  md5: string;
}

/** The same bytes again change nothing; others are a conflict. */
export function requireSameContent(stored: StoredContent, attempt: Attempt): void {
  if (stored.sha256 !== attempt.sha256 || stored.size !== attempt.size) throw uploadUsed();
}

/** Half the sweeper's grace is for the bytes. */
export function requireFresh(attempt: Attempt, graceMs: number, now: Date): void {
  if (now.getTime() - attempt.attemptStartedAt.getTime() > graceMs / 2) throw uploadTooSlow();
}

/**
 * Until when an attempt has to be committed, or never is, in epoch ms: what the sweeper takes for ownerless must not
 * find an owner behind its back. Three quarters of its grace; the last one is for clocks that differ.
 */
export const commitDeadline = ({ attemptStartedAt }: Attempt, graceMs: number): number =>
  attemptStartedAt.getTime() + graceMs * 0.75;

/** Gives a pending version its raw state; extraction is due from now on. */
export function finalize(
  version: StateVersion,
  blobKey: string,
  attempt: Attempt,
  now: Date,
): void {
  if (attempt.md5 !== version.md5) throw md5Mismatch();
  version.status = "finalized";
  version.blobKey = blobKey;
  version.size = BigInt(attempt.size);
  version.sha256 = attempt.sha256;
  version.extractionDueAt = now;
}

/** Gives the version its JSON form. */
export function attachJson(version: StateVersion, blobKey: string, attempt: Attempt): void {
  version.jsonBlobKey = blobKey;
  version.jsonSize = BigInt(attempt.size);
  version.jsonSha256 = attempt.sha256;
}
