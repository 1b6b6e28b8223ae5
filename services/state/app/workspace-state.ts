import { workspaceNotFound } from "../domain/errors.ts";
import { workspaceStateChanged } from "../domain/events.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import { sealLock as seal } from "../domain/lock-sealing.ts";
import { awaitsContent } from "../domain/state-version.ts";
import { managedResources } from "../domain/state-version-extraction.ts";
import {
  dropWorkspaceState,
  type StateSummary,
  summaryOf,
  type WorkspaceState,
  type WorkspaceStateRecord,
} from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { emptyDiscarded } from "./discarded-version.ts";

export interface SealLock {
  workspaceId: WorkspaceId;
  epoch: bigint;
  discardPending: boolean;
}

/** Ends a lock epoch. Throws `stateVersionPending` while a version of it waits for its bytes. */
export const sealLock = (app: App, { workspaceId, ...sealing }: SealLock): Promise<StateSummary> =>
  app.transaction(async (tx) => {
    const workspace = await undroppedForUpdate(tx, workspaceId);
    await sealAndRecord(app, tx, workspace, sealing);
    return summaryOf(workspace);
  });

/** How many resources a safe delete would forget; ends the deletion lock's epoch. */
export const getManagedResources = (
  app: App,
  { workspaceId, epoch }: { workspaceId: WorkspaceId; epoch: bigint },
): Promise<{ resourceCount: number; processed: boolean }> =>
  app.transaction(async (tx) => {
    const workspace = await undroppedForUpdate(tx, workspaceId);
    const unsettled = await tx.unsettledVersions(workspaceId, workspace.currentPosition);
    if (unsettled.some((version) => awaitsContent(version, app.now()))) {
      // An upload is under way; it keeps its lock, and the deletion is refused.
      return { resourceCount: workspace.resourceCount, processed: false };
    }
    await sealAndRecord(app, tx, workspace, { epoch, discardPending: false });
    const { currentVersionId } = workspace;
    const current = currentVersionId ? await tx.versionForUpdate(currentVersionId) : undefined;
    if (!current) return { resourceCount: 0, processed: true };
    return { resourceCount: managedResources(current), processed: current.resourcesProcessed };
  });

/** A tombstone at once; the collector removes the rest. Final, also for a workspace never seen. */
export const dropWorkspace = (app: App, workspaceId: WorkspaceId): Promise<void> =>
  app.transaction(async (tx) => {
    dropWorkspaceState(await tx.workspaceForUpdate(workspaceId), app.now());
    tx.afterCommit(app.wakes.collection.wake);
  });

const MAX_RECORDS = 1000;

export interface ListWorkspaceStates {
  workspaceIds: readonly string[];
  after: string;
  limit: number;
}

/** What state knows of these workspaces, or, where none are named, of those after an id. */
export const listWorkspaceStates = (
  app: App,
  { workspaceIds, after, limit }: ListWorkspaceStates,
): Promise<WorkspaceStateRecord[]> =>
  workspaceIds.length > 0
    ? app.reads.ofWorkspaces(workspaceIds.slice(0, MAX_RECORDS))
    : app.reads.recordsAfter(after, Math.min(limit, MAX_RECORDS));

async function undroppedForUpdate(tx: Transaction, id: WorkspaceId): Promise<WorkspaceState> {
  const workspace = await tx.workspaceForUpdate(id);
  if (workspace.droppedAt) throw workspaceNotFound();
  return workspace;
}

async function sealAndRecord(
  app: App,
  tx: Transaction,
  workspace: WorkspaceState,
  { epoch, discardPending }: Omit<SealLock, "workspaceId">,
): Promise<void> {
  const unsettled = await tx.unsettledVersions(workspace.workspaceId, workspace.currentPosition);
  const { discarded, promoted } = seal(workspace, unsettled, {
    epoch,
    discardPending,
    now: app.now(),
  });
  await emptyDiscarded(app, tx, workspace, discarded);
  if (promoted) await tx.record(workspaceStateChanged(workspace));
}
