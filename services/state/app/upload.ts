import { runWithDeadline } from "@statehouse/runtime";
import { Blob } from "../domain/blob.ts";
import { stateVersionNotFound } from "../domain/errors.ts";
import { stateVersionFinalized, workspaceStateChanged } from "../domain/events.ts";
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
import { requireUnsealed, touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";

/**
 * `open`: takes the content; `md5` (hex) is the one announced, null for JSON.
 * `used`: it has its content; the same bytes again are 200 and nothing is stored, others `uploadUsed`.
 */
export type UploadOpening =
  | { outcome: "open"; md5: string | null }
  | { outcome: "used"; stored: StoredContent };

/** An attempt whose bytes are stored under a key of its own. Digests are lower-case hex. */
export interface UploadAttempt extends Attempt {
  blobKey: string;
}

/** `alreadyStored`: the same content won before; the attempt's own blob has no owner. */
export type UploadOutcome = "stored" | "alreadyStored";

/**
 * Whether the version still takes this content. Throws `notFound`, and the conflicts `stateVersionDiscarded`
 * and `backingDataDeleted`.
 */
export async function beginUpload(
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
): Promise<UploadOpening> {
  const version = await app.reads.version(versionId);
  if (!version || version.workspaceId !== workspaceId) throw stateVersionNotFound();
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
    finishInTime(app, claims, attempt),
  );
}

const finishInTime = (
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
  attempt: UploadAttempt,
): Promise<UploadOutcome> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspace = await tx.knownWorkspaceForUpdate(workspaceId);
    const version = workspace?.droppedAt ? undefined : await tx.versionForUpdate(versionId);
    if (!workspace || version?.workspaceId !== workspaceId) throw stateVersionNotFound();

    requireUndeleted(version);
    const stored = contentOf(version, kind);
    if (stored) {
      requireSameContent(stored, attempt);
      return "alreadyStored";
    }
    requireOpen(version, kind, now);
    if (kind === "raw") await finalizeVersion(app, tx, { workspace, version, attempt, now });
    else attachJson(version, attempt.blobKey, attempt);
    const { blobKey: key, size, sha256 } = attempt;
    tx.addBlob(new Blob({ key, workspaceId, size: BigInt(size), sha256, createdAt: now }));
    return "stored";
  });

async function finalizeVersion(
  app: App,
  tx: Transaction,
  change: { workspace: WorkspaceState; version: StateVersion; attempt: UploadAttempt; now: Date },
): Promise<void> {
  const { workspace, version, attempt, now } = change;
  requireUnsealed(workspace, version.lockEpoch);
  finalize(version, attempt.blobKey, attempt, now);
  touch(workspace, now);
  const isCurrent = !version.intermediate && makeCurrent(workspace, version, now);
  const isLatest = noteLatestChange(workspace, version);
  await tx.record(stateVersionFinalized(workspace, version));
  if (isCurrent || isLatest) await tx.record(workspaceStateChanged(workspace));
  tx.afterCommit(app.wakes.extraction.wake);
}
