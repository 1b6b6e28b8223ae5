import type { Caller } from "@statehouse/authorization";
import { runAs, runWithDeadline } from "@statehouse/runtime";
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
import { targetOf, touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Tx } from "../store/nouns.ts";
import { actorOf } from "./actor.ts";
import type { App } from "./app.ts";
import { currentCreator, requireWritable } from "./state-access.ts";

/**
 * What a request to an upload URL finds:
 *
 * - `open`: the version accepts the content. `md5` (hex) is the digest that the create request announced; null for
 *   JSON.
 * - `used`: the version already has this content. Uploading the same bytes again returns 200 and stores nothing; other
 *   bytes throw `uploadUsed`.
 */
export type UploadOpening =
  | { outcome: "open"; md5: string | null }
  | { outcome: "used"; stored: StoredContent };

/** An upload attempt; each stores its bytes under its own key. Digests are lower-case hex. */
export interface UploadAttempt extends Attempt {
  blobKey: string;
}

/** `alreadyStored`: another attempt stored the same content first, so this attempt's blob gets no row. */
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
 * Throws `notFound` unless the version's creator may still write the workspace. Used for a repeated upload, which
 * stores nothing.
 */
export async function authorizeRepeat(
  app: App,
  { workspaceId, versionId }: UploadClaims,
): Promise<void> {
  const creator = await creatorOf(app, { workspaceId, versionId });
  requireWritable(creator, await app.reads.stateVersions.get(versionId));
}

/** The version's creator with its current rights, which may have changed since it created the version. */
const creatorOf = async (
  app: App,
  { workspaceId, versionId }: Pick<UploadClaims, "workspaceId" | "versionId">,
): Promise<Caller> =>
  currentCreator(app, await app.reads.stateVersions.getCreator(versionId), { workspaceId });

/**
 * Attaches the attempt's blob to the version, in one transaction, if the version's creator may still write the
 * workspace. Throws `notFound`, `uploadTooSlow`, and the conflicts `stateVersionDiscarded`, `backingDataDeleted`,
 * `uploadUsed`, `lockSealed` and `md5Mismatch`.
 */
export async function finishUpload(
  app: App,
  claims: UploadClaims,
  attempt: UploadAttempt,
): Promise<UploadOutcome> {
  const { sweepGraceMs } = app.settings;
  requireFresh(attempt, sweepGraceMs, app.now());
  return runWithDeadline(commitDeadline(attempt, sweepGraceMs), async () =>
    commitUpload(app, claims, attempt, await creatorOf(app, claims)),
  );
}

const commitUpload = (
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
  attempt: UploadAttempt,
  creator: Caller,
): Promise<UploadOutcome> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspaceState = await tx.workspaceStates.findForUpdate(workspaceId);
    if (!workspaceState || workspaceState.droppedAt) throw stateVersionNotFound();
    const version = await tx.stateVersions.getForUpdate(versionId);
    if (version.workspaceId !== workspaceId) throw stateVersionNotFound();
    requireWritable(creator, targetOf(workspaceState));

    requireUndeleted(version);
    const stored = contentOf(version, kind);
    if (stored) {
      requireSameContent(stored, attempt);
      return "alreadyStored";
    }
    requireOpen(version, kind, now);
    // An upload acts as the version's creator, because the upload URL is part of the response to the creator's request.
    if (kind === "raw") {
      const change = { workspaceState, version, attempt, now };
      await runAs(actorOf(creator), () => finalizeVersion(app, tx, change));
    } else {
      attachJson(version, attempt.blobKey, attempt);
      await runAs(actorOf(creator), () =>
        tx.audit({
          organization: workspaceState.organizationId ?? undefined,
          action: "state-version.attach-json",
          resource: { type: "state-version", id: versionId },
        }),
      );
    }
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
