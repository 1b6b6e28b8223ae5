import { authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { forEachConcurrently, remainingMs } from "@statehouse/runtime";
import type { App } from "../app.ts";
import type { OrganizationId } from "../ids-domain.ts";
import { beginOrganizationDeletion, organizationNotFound } from "../organization/domain.ts";
import { organizationDeleted } from "../organization/store.ts";
import { newOrganizationDeletion, newWorkspaceDeletion } from "../pending-sync/domain.ts";
import { touch } from "../revision-domain.ts";
import { workspaceDeleted } from "../workspace/events-store.ts";
import { syncDeletion } from "../workspace-deletion/app.ts";

/** The number of workspaces that one transaction deletes. */
const BATCH = 50;
/** The number of concurrent calls to the state service. */
const PARALLEL = 8;
/**
 * The time before the call's deadline in which no further batch starts, in ms. Reconciliation then deletes the rest of
 * the organization in the background.
 */
const RESERVE_MS = 6000;

/**
 * Deletes an organization and everything in it:
 * - The first commit makes the organization invisible and frees its name.
 * - Then the access service deletes its grants, and its workspaces are deleted in batches.
 * Throws `unavailable` if another service does not respond. If the caller that deleted the organization repeats the
 * request, the deletion continues. What remains shortly before the call's deadline is deleted later, in the background.
 */
export const deleteOrganization = (app: App, caller: Caller, name: string): Promise<void> =>
  deleteOrganizationIf(app, caller, name, (organizationId) =>
    authorize(caller, "organization:delete", { organizationId }),
  );

/** Deletes an organization like `deleteOrganization`, but calls `authorizeDeletion` to authorize the caller. */
export async function deleteOrganizationIf(
  app: App,
  caller: Caller,
  name: string,
  authorizeDeletion: (id: OrganizationId) => void,
): Promise<void> {
  const { principal } = grantsOf(caller);
  const organizationId = await app.transaction(async (tx) => {
    const organization = await tx.organizations.findByNameForUpdate(name);
    // The request may be a repeat: the organization is then already deleted. If the caller has deleted several
    // organizations with this name, the request continues one of the deletions that are not complete.
    if (organization?.status !== "active") {
      const pending = await tx.organizationDeletions.findPending(name, principal);
      if (!pending) throw organizationNotFound();
      return pending.organizationId;
    }
    authorizeDeletion(organization.id);
    tx.organizationDeletions.save(newOrganizationDeletion(organization, principal, app.now()));
    beginOrganizationDeletion(organization, app.now());
    tx.organizations.save(organization);
    await tx.record(organizationDeleted(organization));
    return organization.id;
  });
  await syncOrganizationDeletion(app, organizationId);
}

/**
 * Deletes as much of a deleted organization as the call's deadline allows. Returns whether the deletion is complete.
 */
export async function syncOrganizationDeletion(app: App, id: OrganizationId): Promise<boolean> {
  await app.access.dropOrganization(id);
  while ((remainingMs() ?? RESERVE_MS) >= RESERVE_MS) {
    await removeSomeWorkspaces(app, id);
    if (await finishIfEmpty(app, id)) return true;
  }
  await app.leases.pendingSyncs.rescheduleOrganizationDeletion(id, app.now());
  return false;
}

/**
 * Deletes the organization's remaining rows and returns true. If workspaces or unconfirmed deletions of workspaces
 * remain, deletes nothing and returns false.
 */
const finishIfEmpty = (app: App, id: OrganizationId): Promise<boolean> =>
  app.transaction(async (tx) => {
    if (await tx.organizationDeletions.hasWorkspaces(id)) return false;
    await tx.organizationDeletions.finish(id);
    return true;
  });

async function removeSomeWorkspaces(app: App, id: OrganizationId): Promise<void> {
  await app.transaction(async (tx) => {
    const workspaces = await tx.workspaces.listForDeletion(id, BATCH);
    for (const workspace of workspaces) {
      touch(workspace, app.now());
      tx.workspaceDeletions.save(newWorkspaceDeletion(workspace, app.now()));
      // The workspace's tags are deleted later, with the organization.
      tx.workspaces.remove(workspace);
      await tx.record(workspaceDeleted(workspace));
    }
  });
  const deletions = await app.reads.pendingSyncs.pendingDeletionsOf(id, BATCH);
  await forEachConcurrently(PARALLEL, deletions, (deletion) => syncDeletion(app, deletion));
}
