import { authorize, type Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { noteActivity } from "../auto-destroy/domain.ts";
import { holderOf, targetOf } from "../caller-app.ts";
import { LockConflict } from "../errors-domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { touch } from "../revision-domain.ts";
import { applyStateSummary, type StateSummary } from "../state-summary/domain.ts";
import { type WorkspaceDocument, workspaceDocument } from "../workspace/document-app.ts";
import { type Workspace, type WorkspaceView, workspaceNotFound } from "../workspace/domain.ts";
import { workspaceLocked, workspaceUnlocked } from "../workspace/events-store.ts";
import type { Placement } from "../workspace-placement/domain.ts";
import {
  epochToForceUnlock,
  epochToUnlock,
  releaseLock,
  takeLock,
  type WorkspaceLock,
} from "./domain.ts";

/** Locks the workspace for `caller`. Throws `notFound`, or the conflict `workspace_locked`. */
export const lockWorkspace = (
  app: App,
  caller: Caller,
  { workspaceId, reason }: { workspaceId: WorkspaceId; reason: string },
): Promise<WorkspaceDocument> =>
  withHolderName(app, async () => {
    const view = await app.transaction(async (tx) => {
      const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
      authorize(caller, "workspace:lock", targetOf(workspace));
      const lock = takeLock(workspace, holderOf(caller), reason, app.now());
      touch(workspace, app.now());
      await tx.record(workspaceLocked(workspace, lock));
      return tx.workspaces.commit(workspace);
    });
    return workspaceDocument(app, caller, view);
  });

/**
 * Releases the caller's lock. The lock's epoch is sealed in the state service first, so that no delayed state write of
 * this epoch can succeed. A repeat completes an interrupted unlock. Throws a conflict if the caller does not hold the
 * lock, and `unavailable` while a state version of the epoch is pending.
 */
export const unlockWorkspace = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
): Promise<WorkspaceDocument> =>
  withHolderName(app, async () => {
    const workspace = await getLock(app, workspaceId);
    authorize(caller, "workspace:lock", workspace.placement);
    const epoch = epochToUnlock(workspace, holderOf(caller));
    const summary = await app.state.sealLock(workspaceId, epoch, { discardPending: false });
    return release(app, caller, { workspaceId, epoch, summary, forced: false });
  });

/** Releases the workspace's lock, whichever principal holds it, and discards pending state versions. */
export const forceUnlockWorkspace = async (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
): Promise<WorkspaceDocument> => {
  const workspace = await getLock(app, workspaceId);
  authorize(caller, "workspace:force-unlock", workspace.placement);
  const epoch = epochToForceUnlock(workspace);
  const summary = await app.state.sealLock(workspaceId, epoch, { discardPending: true });
  return release(app, caller, { workspaceId, epoch, summary, forced: true });
};

/**
 * Returns the workspace's placement, and its lock if it is locked. Throws `notFound`. Also called by the state service.
 */
export async function getLock(
  app: App,
  id: WorkspaceId,
): Promise<{ lock: WorkspaceLock | null; placement: Placement }> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found;
}

interface Release {
  /** The epoch that was sealed in the state service. */
  epoch: bigint;
  summary: StateSummary;
  forced: boolean;
}

async function release(
  app: App,
  caller: Caller,
  { workspaceId, ...sealed }: Release & { workspaceId: WorkspaceId },
): Promise<WorkspaceDocument> {
  const view = await app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
    // Authorized again, because the workspace may have been moved to another project during the call to the state
    // service.
    const action = sealed.forced ? "workspace:force-unlock" : "workspace:lock";
    authorize(caller, action, targetOf(workspace));
    return releaseSealed(app, tx, workspace, sealed);
  });
  return workspaceDocument(app, caller, view);
}

/**
 * Releases a lock after its epoch was sealed, and commits the transaction. Throws a conflict if the workspace now has
 * another lock or none.
 */
export async function releaseSealed(
  app: App,
  tx: Tx,
  workspace: Workspace,
  { epoch, summary, forced }: Release,
): Promise<WorkspaceView> {
  releaseLock(workspace, epoch);
  if (applyStateSummary(workspace, summary)) noteActivity(workspace, app.now());
  touch(workspace, app.now());
  await tx.record(workspaceUnlocked(workspace, { epoch, forced }));
  return tx.workspaces.commit(workspace);
}

/**
 * Runs `work`. If it throws a lock conflict, adds the holder's name to the error. The access service is called only in
 * that case, after the transaction; if the call fails, the error contains the holder's id instead of the name.
 */
export async function withHolderName<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LockConflict)) throw error;
    const name = await app.access.nameOf(error.holder).catch(() => undefined);
    throw name === undefined ? error : error.named(name);
  }
}
