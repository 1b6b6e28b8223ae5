import { runWithDeadline } from "@statehouse/runtime";
import { Blob } from "../domain/blob.ts";
import { stateVersionNotFound } from "../domain/errors.ts";
import { stateVersionFinalized, workspaceStateChanged } from "../domain/events.ts";
import { requireUnsealed } from "../domain/lock-epoch.ts";
import { makeCurrent, noteLatestChange, type StateVersion } from "../domain/state-version.ts";
import {
  type Attempt,
  attachJson,
  commitDeadline,
  contentOf,
  finalize,
  requireFresh,
  requireOpen,
  requireSameContent,
  requireUndeleted,
  type StoredContent,
} from "../domain/state-version-upload.ts";
import type { UploadClaims } from "../domain/upload-token.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Tx } from "../store/nouns.ts";
import type { App } from "./app.ts";

/**
 * `open`: the version accepts the content; `md5` (hex) is the digest that the create request announced, null for
 * JSON. `used`: the version has its content; uploading the same bytes again returns 200 and stores nothing, other
 * bytes throw `uploadUsed`.
 */
export type UploadOpening =
  | { outcome: "open"; md5: string | null }
  | { outcome: "used"; stored: StoredContent };

/** An upload attempt, whose bytes are stored under a key of its own. Digests are lower-case hex. */
export interface UploadAttempt extends Attempt {
  blobKey: string;
}

/** `alreadyStored`: another attempt with the same content was faster, so the blob of this one has no row. */
export type UploadOutcome = "stored" | "alreadyStored";

/**
 * Returns whether the version still accepts this content. Throws `notFound`, and the conflicts
 * `stateVersionDiscarded` and `backingDataDeleted`.
 */
export async function beginUpload(
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
): Promise<UploadOpening> {
  const version = await app.reads.stateVersions.get(versionId);
  if (version.workspaceId !== workspaceId) throw stateVersionNotFound();
  requireUndeleted(version);
  const stored = contentOf(version, kind);
  if (stored) return { outcome: "used", stored };
  requireOpen(version, kind, app.now());
  return { outcome: "open", md5: kind === "raw" ? version.md5 : null };
}

/**
 * Gives the version the attempt's blob, in one transaction. Throws `notFound`, the conflicts
 * `stateVersionDiscarded`, `backingDataDeleted`, `uploadUsed`, `lockSealed`, `md5Mismatch`, and `uploadTooSlow`.
 */
export async function finishUpload(
  app: App,
  claims: UploadClaims,
  attempt: UploadAttempt,
): Promise<UploadOutcome> {
  const { sweepGraceMs } = app.settings;
  requireFresh(attempt, sweepGraceMs, app.now());
  return runWithDeadline(commitDeadline(attempt, sweepGraceMs), () =>
    commitUpload(app, claims, attempt),
  );
}

const commitUpload = (
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
  attempt: UploadAttempt,
): Promise<UploadOutcome> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspaceState = await tx.workspaceStates.findForUpdate(workspaceId);
    if (!workspaceState || workspaceState.droppedAt) throw stateVersionNotFound();
    const version = await tx.stateVersions.getForUpdate(versionId);
    if (version.workspaceId !== workspaceId) throw stateVersionNotFound();

    requireUndeleted(version);
    const stored = contentOf(version, kind);
    if (stored) {
      requireSameContent(stored, attempt);
      return "alreadyStored";
    }
    requireOpen(version, kind, now);
    if (kind === "raw") await finalizeVersion(app, tx, { workspaceState, version, attempt, now });
    else attachJson(version, attempt.blobKey, attempt);
    const { blobKey: key, size, sha256 } = attempt;
    const blob = { key, workspaceId, size: BigInt(size), sha256, references: 1, createdAt: now };
    await tx.blobs.save(new Blob(blob));
    return "stored";
  });

async function finalizeVersion(
  app: App,
  tx: Tx,
  change: {
    workspaceState: WorkspaceState;
    version: StateVersion;
    attempt: UploadAttempt;
    now: Date;
  },
): Promise<void> {
  const { workspaceState, version, attempt, now } = change;
  requireUnsealed(workspaceState, version.lockEpoch);
  finalize(version, attempt.blobKey, attempt, now);
  touch(workspaceState, now);
  const isCurrent = !version.intermediate && makeCurrent(workspaceState, version, now);
  const isLatest = noteLatestChange(workspaceState, version);
  await tx.record(stateVersionFinalized(workspaceState, version));
  if (isCurrent || isLatest) await tx.record(workspaceStateChanged(workspaceState));
  tx.afterCommit(app.wakes.extraction.wake);
}
