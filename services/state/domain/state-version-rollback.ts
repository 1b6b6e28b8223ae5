import {
  rollbackToOtherWorkspace,
  rollbackWithoutContent,
  rollbackWithoutLock,
  serialsExhausted,
} from "./errors.ts";
import type { StateVersionId, WorkspaceId } from "./ids.ts";
import { newestOf, StateVersion } from "./state-version.ts";
import {
  type Holder,
  type LockAnswer,
  type WorkspaceState,
  writableEpoch,
} from "./workspace-state.ts";

/** Refuses a source of another workspace, which the caller may read. */
export function requireOwnSource(
  source: Pick<StateVersion, "workspaceId">,
  workspaceId: WorkspaceId,
): void {
  if (source.workspaceId !== workspaceId) throw rollbackToOtherWorkspace();
}

/** The epoch under which `holder` may roll back. Throws 409 unlocked, held by another, or sealed. */
export function rollbackEpoch(
  workspace: WorkspaceState,
  lock: LockAnswer["lock"],
  holder: Holder,
): bigint {
  if (!lock) throw rollbackWithoutLock();
  return writableEpoch(workspace, lock, holder);
}

/**
 * The copy that a repeated request means: the newest version, made from this source under this lock. A client
 * that got no answer asks again, and what it wants is there.
 */
export function repeatedRollback(
  sourceId: StateVersionId,
  epoch: bigint,
  known: readonly StateVersion[],
): StateVersion | undefined {
  const newest = newestOf(known);
  const isRepeat =
    newest?.rollbackVersionId === sourceId &&
    newest.lockEpoch === epoch &&
    newest.status === "finalized";
  return isRepeat ? newest : undefined;
}

/**
 * The serial that follows all of this lock and the newest that is kept.
 *
 * `known`: at least the newest version that is not discarded, and that of this epoch with the highest serial.
 */
export function followingSerial(epoch: bigint, known: readonly StateVersion[]): bigint {
  const newest = newestOf(known.filter(({ status }) => status !== "discarded"));
  const serials = known
    .filter((version) => version === newest || version.lockEpoch === epoch)
    .map(({ serial }) => serial);
  const following =
    serials.reduce((highest, serial) => (serial > highest ? serial : highest), 0n) + 1n;
  if (following > BigInt(Number.MAX_SAFE_INTEGER)) throw serialsExhausted();
  return following;
}

/** What of a copy is not its source's. */
export type RollbackInit = Pick<
  StateVersion,
  "id" | "position" | "lockEpoch" | "serial" | "createdAt" | "createdByType" | "createdById"
>;

/** A finalized version with the source's contents. Its bytes, and so the serial in them, are the source's. */
export function copyVersion(source: StateVersion, init: RollbackInit): StateVersion {
  if (source.status !== "finalized") throw rollbackWithoutContent(source.status);
  const copy = new StateVersion({
    ...init,
    workspaceId: source.workspaceId,
    md5: source.md5,
    lineage: source.lineage,
    intermediate: false,
    runId: null,
    // It takes no uploads.
    expiresAt: init.createdAt,
    outputsGiven: source.outputsGiven,
  });
  copy.status = "finalized";
  copy.rollbackVersionId = source.id;
  copy.blobKey = source.blobKey;
  copy.size = source.size;
  copy.sha256 = source.sha256;
  copy.jsonBlobKey = source.jsonBlobKey;
  copy.jsonSize = source.jsonSize;
  copy.jsonSha256 = source.jsonSha256;
  copy.resourcesProcessed = source.resourcesProcessed;
  copy.resourceCount = source.resourceCount;
  copy.billableResourceCount = source.billableResourceCount;
  copy.formatVersion = source.formatVersion;
  copy.engineVersion = source.engineVersion;
  copy.extractionError = source.extractionError;
  copy.extractionDueAt = source.resourcesProcessed ? null : init.createdAt;
  return copy;
}
