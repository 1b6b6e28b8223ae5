import type { Caller } from "@statehouse/authorization";
import { runAs, runWithDeadline } from "@statehouse/runtime";
import { actorOf } from "../actor-app.ts";
import type { App } from "../app.ts";
import { newBlob } from "../blob/domain.ts";
import { stateVersionNotFound } from "../errors-domain.ts";
import { requireUnsealed } from "../lock-epoch/domain.ts";
import type { Tx } from "../nouns.ts";
import { currentCreator, requireWritable } from "../state-access-app.ts";
import { targetOf, touch, type WorkspaceState } from "../workspace-state/domain.ts";
import { workspaceStateChanged } from "../workspace-state/store.ts";
import { makeCurrent, noteLatestChange, type StateVersion, type StoredVersion } from "./domain.ts";
import { stateVersionFinalized } from "./events-store.ts";
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
} from "./upload-domain.ts";
import type { ContentKind, UploadClaims } from "./upload-token-domain.ts";

/** What a request to an upload URL finds. */
export interface UploadOpening {
  target: StoredVersion;
  /**
   * The content that the version already has; undefined if the version accepts the content. Uploading the same bytes
   * again returns 200 and stores nothing; other bytes throw `uploadUsed`.
   */
  stored: StoredContent | undefined;
}

/** `alreadyStored`: another attempt stored the same content first, so this attempt's blob gets no row. */
export type UploadOutcome = "stored" | "alreadyStored";

/**
 * Returns what a request to an upload URL finds: the version accepts this content, or already has it. Throws
 * `notFound`, and the conflicts `stateVersionDiscarded`, `stateNotTaken` and `backingDataDeleted`.
 */
export async function beginUpload(
  app: App,
  { workspaceId, versionId, kind }: UploadClaims,
): Promise<UploadOpening> {
  const target = await app.reads.stateVersions.getStored(versionId);
  if (target.workspaceId !== workspaceId) throw stateVersionNotFound();
  requireUndeleted(target);
  const stored = contentOf(target, kind);
  if (!stored) requireOpen(target, kind, app.now());
  return { target, stored };
}

/**
 * Throws `notFound` if the version's creator may no longer write the workspace. Called when the same bytes are uploaded
 * again, in which case nothing is stored.
 */
export async function authorizeRepeat(app: App, target: StoredVersion): Promise<void> {
  requireWritable(
    await creatorAtEnd(app, target),
    await app.reads.stateVersions.getStored(target.id),
  );
}

/**
 * Returns the version's creator with its current rights, which may have changed since it created the version, or since
 * the upload began. `target` may have been read when the upload began; since then, a repeat of the create request may
 * have replaced the version's token.
 */
async function creatorAtEnd(app: App, target: StoredVersion): Promise<Caller> {
  try {
    return await currentCreator(app, target, target);
  } catch (error) {
    const now = await app.reads.stateVersions.getStored(target.id);
    if (now.createdTokenId === target.createdTokenId) throw error;
    return currentCreator(app, now, now);
  }
}

/**
 * Attaches the attempt's blob to the version, in one transaction, if the version's creator may still write the
 * workspace. Throws `notFound`, `uploadTooSlow`, and the conflicts `stateVersionDiscarded`, `stateNotTaken`,
 * `backingDataDeleted`, `uploadUsed`, `lockSealed` and `md5Mismatch`.
 */
export async function finishUpload(
  app: App,
  target: StoredVersion,
  kind: ContentKind,
  attempt: Attempt,
): Promise<UploadOutcome> {
  const { sweepGraceMs } = app.settings;
  requireFresh(attempt, sweepGraceMs, app.now());
  // The time limit ends before the sweeper may delete the key.
  return runWithDeadline(commitDeadline(attempt, sweepGraceMs), async () =>
    commit(app, target, { kind, attempt }, await creatorAtEnd(app, target)),
  );
}

const commit = (
  app: App,
  { workspaceId, id }: StoredVersion,
  content: { kind: ContentKind; attempt: Attempt },
  creator: Caller,
): Promise<UploadOutcome> =>
  app.transaction(async (tx) => {
    const { workspaceState, version } = await tx.stateVersions.findWithWorkspaceState(
      workspaceId,
      id,
    );
    if (!workspaceState || workspaceState.droppedAt) throw stateVersionNotFound();
    if (version?.workspaceId !== workspaceId) throw stateVersionNotFound();
    requireWritable(creator, targetOf(workspaceState));
    const change = { workspaceState, version, ...content, now: app.now() };
    // An upload acts as the version's creator, because the upload URL is part of the response to the creator's request.
    return runAs(actorOf(creator), () => attachContent(app, tx, change));
  });

interface ContentChange {
  workspaceState: WorkspaceState;
  version: StateVersion;
  kind: ContentKind;
  attempt: Attempt;
  now: Date;
}

/**
 * Attaches a stored blob to a version. The caller must have locked the rows of the workspace's state and of the version.
 * Throws the conflicts of `finishUpload`.
 */
async function attachContent(app: App, tx: Tx, change: ContentChange): Promise<UploadOutcome> {
  const { workspaceState, version, kind, attempt, now } = change;
  requireUndeleted(version);
  const stored = contentOf(version, kind);
  if (stored) {
    requireSameContent(stored, attempt);
    return "alreadyStored";
  }
  requireOpen(version, kind, now);
  if (kind === "raw") await finalizeVersion(app, tx, change);
  else {
    attachJson(version, attempt);
    await tx.audit({
      organization: workspaceState.organizationId ?? undefined,
      action: "state-version.attach-json",
      resource: { type: "state-version", id: version.id },
    });
  }
  const { workspaceId } = workspaceState;
  const { blobKey: key, size, sha256 } = attempt;
  tx.blobs.save(newBlob({ key, workspaceId, size: BigInt(size), sha256, createdAt: now }));
  return "stored";
}

async function finalizeVersion(
  app: App,
  tx: Tx,
  { workspaceState, version, attempt, now }: ContentChange,
): Promise<void> {
  requireUnsealed(workspaceState, version.lockEpoch);
  finalize(version, attempt, now);
  touch(workspaceState, now);
  const isCurrent = !version.intermediate && makeCurrent(workspaceState, version, now);
  const isLatest = noteLatestChange(workspaceState, version);
  await tx.record(stateVersionFinalized(workspaceState, version));
  if (isCurrent || isLatest) await tx.record(workspaceStateChanged(workspaceState));
  tx.afterCommit(app.wakes.extraction.wake);
}
