import { authorize, type Caller } from "@statehouse/authorization";
import { forceDeleteAction } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { targetOf } from "../caller-app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { newWorkspaceDeletion, type PendingDeletion } from "../pending-sync/domain.ts";
import { touch } from "../revision-domain.ts";
import { type Workspace, type WorkspaceRef, workspaceNotFound } from "../workspace/domain.ts";
import { workspaceDeleted } from "../workspace/events-store.ts";
import { withHolderName } from "../workspace-lock/app.ts";
import {
  endDeletionLock,
  type ManagedResources,
  refusalToDelete,
  takeDeletionLock,
} from "./domain.ts";

/**
 * Deletes a workspace even if it manages resources or is locked. Throws `unavailable` if the state service has not
 * confirmed the deletion; a repeat of the request then completes the deletion.
 */
export async function deleteWorkspace(app: App, caller: Caller, ref: WorkspaceRef): Promise<void> {
  const deletion = await app.transaction(async (tx) => {
    const { workspace, target } = await workspaceOrDeletion(tx, ref);
    const organization = await tx.organizations.get(target.organizationId);
    authorize(caller, forceDeleteAction(organization.allowForceDeleteWorkspaces), target);
    return workspace ? removeWorkspace(app, tx, workspace) : target;
  });
  await syncDeletion(app, deletion);
}

/**
 * Deletes a workspace that manages no resources and is not locked. The state service is called between two
 * transactions. From the first to the second transaction, a deletion lock blocks all writers. If the deletion is
 * interrupted, the deletion lock ends when its lease expires.
 */
export const safeDeleteWorkspace = (app: App, caller: Caller, ref: WorkspaceRef): Promise<void> =>
  withHolderName(app, async () => {
    const begun = await app.transaction(async (tx) => {
      const { workspace, target } = await workspaceOrDeletion(tx, ref);
      authorize(caller, "workspace:delete", target);
      if (!workspace) return { deletion: target };
      return { id: workspace.id, epoch: takeDeletionLock(workspace, app.now()) };
    });
    const deletion = begun.deletion ?? (await finishSafely(app, begun.id, begun.epoch));
    await syncDeletion(app, deletion);
  });

/**
 * Deletes the state of a deleted workspace in the state service. Then clears the deletion record except for the
 * workspace's id.
 */
export async function syncDeletion(app: App, deletion: PendingDeletion): Promise<void> {
  const { workspaceId, organizationId } = deletion;
  await app.state.dropWorkspace(workspaceId, organizationId);
  await app.leases.pendingSyncs.clearDeletion(workspaceId);
}

async function finishSafely(app: App, id: WorkspaceId, epoch: bigint): Promise<PendingDeletion> {
  const managed = await managedResources(app, id, epoch);
  const outcome = await app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id });
    endDeletionLock(workspace, epoch);
    const refusal = refusalToDelete(managed);
    // Returns the error instead of throwing it, because the end of the deletion lock must be committed.
    return refusal ? { refusal } : { deletion: await removeWorkspace(app, tx, workspace) };
  });
  if (outcome.refusal) throw outcome.refusal;
  return outcome.deletion;
}

/**
 * Returns the number of managed resources from the state service. If that call fails, releases the deletion lock
 * immediately instead of waiting for the end of its lease.
 */
async function managedResources(
  app: App,
  id: WorkspaceId,
  epoch: bigint,
): Promise<ManagedResources> {
  try {
    return await app.state.managedResources(id, epoch);
  } catch (error) {
    const release = app.transaction(async (tx) => {
      const workspace = await tx.workspaces.findForUpdate({ id });
      if (workspace?.deletionLock?.epoch === epoch) endDeletionLock(workspace, epoch);
    });
    await release.catch(() => {});
    throw error;
  }
}

async function removeWorkspace(app: App, tx: Tx, workspace: Workspace): Promise<PendingDeletion> {
  const { id: workspaceId, organizationId, projectId } = workspace;
  const now = app.now();
  touch(workspace, now);
  tx.workspaceDeletions.save(newWorkspaceDeletion(workspace, now));
  await tx.record(workspaceDeleted(workspace));
  const bindings = await tx.tagBindings.ofWorkspace(workspaceId);
  await tx.tagBindings.replace({ organizationId, workspaceId }, bindings, new Map(), { now });
  tx.workspaces.remove(workspace);
  return { workspaceId, organizationId, projectId };
}

/**
 * Returns the workspace. If the request is a repeat and the workspace is already deleted, returns only the deletion
 * that the state service has not yet confirmed (`target`). Throws `notFound` if neither exists.
 */
async function workspaceOrDeletion(
  tx: Tx,
  ref: WorkspaceRef,
): Promise<{ workspace: Workspace | undefined; target: PendingDeletion }> {
  const workspace = await tx.workspaces.findForUpdate(ref);
  const target = workspace ? targetOf(workspace) : await tx.workspaceDeletions.findPending(ref);
  if (!target) throw workspaceNotFound();
  return { workspace, target };
}
