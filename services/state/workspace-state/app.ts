import type { App } from "../app.ts";
import { releaseBlobs } from "../blob/app.ts";
import { deleteContentsOfDiscarded } from "../discarded-version/app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { endLockEpoch } from "../lock-epoch/domain.ts";
import type { Tx } from "../nouns.ts";
import { awaitsContent } from "../state-version/domain.ts";
import { managedResources } from "../state-version/extraction-domain.ts";
import {
  dropWorkspaceState,
  requireNotDropped,
  type StateSummary,
  summaryOf,
  type WorkspaceState,
  type WorkspaceStateRecord,
} from "./domain.ts";
import { workspaceStateChanged } from "./store.ts";

export interface SealLock {
  workspaceId: WorkspaceId;
  epoch: bigint;
  discardPending: boolean;
}

/**
 * Ends a lock epoch. Throws `stateVersionPending` while a version of the epoch awaits its content, unless
 * `discardPending` is set.
 */
export const sealLock = async (
  app: App,
  { workspaceId, ...end }: SealLock,
): Promise<StateSummary> =>
  (await app.transaction((tx) =>
    tx.workspaceStates.sealWithoutOpenVersions(workspaceId, end.epoch),
  )) ??
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(workspaceId);
    requireNotDropped(workspaceState);
    await endEpoch(app, tx, workspaceState, end);
    return summaryOf(workspaceState);
  });

/**
 * Returns how many resources would continue to exist unmanaged after the workspace's deletion, and ends the epoch of
 * the deletion lock. Called during a safe deletion.
 */
export const getManagedResources = (
  app: App,
  { workspaceId, epoch }: { workspaceId: WorkspaceId; epoch: bigint },
): Promise<{ resourceCount: number; processed: boolean }> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(workspaceId);
    requireNotDropped(workspaceState);
    const { resourceCount, currentPosition } = workspaceState;
    const open = await tx.stateVersions.listBeforeSealing(workspaceId, currentPosition);
    if (open.some((version) => awaitsContent(version, app.now()))) {
      // An upload is in progress, so the epoch is not ended and the caller refuses the deletion.
      return { resourceCount, processed: false };
    }
    await endEpoch(app, tx, workspaceState, { epoch, discardPending: false });
    const { currentVersionId } = workspaceState;
    if (currentVersionId === null) return { resourceCount: 0, processed: true };
    const current = await tx.stateVersions.getForUpdate(currentVersionId);
    return { resourceCount: managedResources(current), processed: current.resourcesProcessed };
  });

async function endEpoch(
  app: App,
  tx: Tx,
  workspaceState: WorkspaceState,
  { epoch, discardPending }: Omit<SealLock, "workspaceId">,
): Promise<void> {
  const { workspaceId, currentPosition } = workspaceState;
  const open = await tx.stateVersions.listBeforeSealing(workspaceId, currentPosition);
  const end = { epoch, discardPending, now: app.now() };
  const { discarded, promoted } = endLockEpoch(workspaceState, open, end);
  tx.workspaceStates.save(workspaceState);
  await deleteContentsOfDiscarded(app, tx, workspaceState, discarded);
  if (promoted) await tx.record(workspaceStateChanged(workspaceState));
}

/**
 * Stores a tombstone at once, even if the workspace is unknown; the workspace's other rows are purged later. Cannot be
 * undone.
 */
export const dropWorkspace = (app: App, workspaceId: WorkspaceId): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(workspaceId);
    dropWorkspaceState(workspaceState, app.now());
    tx.workspaceStates.save(workspaceState);
    tx.afterCommit(app.wakes.purge.wake);
  });

const PURGED_WORKSPACES = 20;
const PURGED_VERSIONS = 50;

/**
 * Deletes the rows of dropped workspaces and releases their blobs, after the workspaces service has confirmed that the
 * workspaces are deleted. Returns whether rows were deleted. Throws `unavailable` if the workspaces service does not
 * respond.
 *
 * Workspaces whose deletion is not confirmed keep their rows, because the workspaces service may have been restored to
 * a time before the deletion.
 */
export async function purgeDroppedWorkspaces(app: App): Promise<boolean> {
  const unconfirmed: WorkspaceId[] = [];
  for (;;) {
    const dropped = await app.reads.workspaceStates.listToPurge(PURGED_WORKSPACES, unconfirmed);
    if (dropped.length === 0) return false;
    const { deletedWorkspaceIds } = await app.workspaces.batchGetPlacements(dropped);
    const deleted = new Set(deletedWorkspaceIds);
    const confirmed = dropped.filter((workspaceId) => deleted.has(workspaceId));
    for (const workspaceId of confirmed) await purgeBatch(app, workspaceId);
    if (confirmed.length > 0) return true;
    unconfirmed.push(...dropped);
  }
}

/**
 * Deletes one batch of the workspace's versions in its own transaction, so that locks are held briefly. After the last
 * batch only the tombstone remains.
 */
const purgeBatch = (app: App, workspaceId: WorkspaceId): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.findForUpdate({ workspaceId });
    if (!workspaceState?.droppedAt || workspaceState.purgedAt) return;
    const purged = await tx.stateVersions.removeFirst(workspaceId, PURGED_VERSIONS);
    await releaseBlobs(app, tx, purged.blobKeys);
    if (purged.versions === PURGED_VERSIONS) return;
    await tx.workspaceResources.removeAll(workspaceId);
    workspaceState.purgedAt = app.now();
    tx.workspaceStates.save(workspaceState);
  });

const MAX_RECORDS = 1000;

export interface ListWorkspaceStates {
  workspaceIds: readonly string[];
  after: string;
  limit: number;
}

/**
 * Returns the records of the given workspaces. Without ids, returns records of the workspaces whose ids follow `after`.
 */
export const listWorkspaceStates = (
  app: App,
  { workspaceIds, after, limit }: ListWorkspaceStates,
): Promise<WorkspaceStateRecord[]> =>
  workspaceIds.length > 0
    ? app.reads.workspaceStates.listRecords(workspaceIds)
    : app.reads.workspaceStates.listRecordsAfter(after, Math.min(limit, MAX_RECORDS));
