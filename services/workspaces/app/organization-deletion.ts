import { authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { remainingMs } from "@statehouse/runtime";
import type { OrganizationId } from "../domain/ids.ts";
import {
  beginOrganizationDeletion,
  organizationDeleted,
  organizationNotFound,
} from "../domain/organization.ts";
import { touch } from "../domain/revision.ts";
import { workspaceDeleted } from "../domain/workspace.ts";
import type { App } from "./app.ts";
import { syncDeletion } from "./workspace-deletion.ts";

/** Number of workspaces in one transaction, and of concurrent calls to state. */
const BATCH = 50;
const PARALLEL = 8;
/**
 * No further batch starts if the call has less time left than this, in ms; the rest of a large organization is
 * deleted in the background.
 */
const RESERVE_MS = 6000;

/**
 * Deletes an organization with everything in it. After the first commit its name is free, and after access confirms
 * its grants are deleted; then its workspaces are deleted one by one. Throws `unavailable` until the other services
 * confirm; a repeat by the user who deleted it completes the deletion.
 */
export async function deleteOrganization(app: App, caller: Caller, name: string): Promise<void> {
  const { principal } = grantsOf(caller);
  const organizationId = await app.transaction(async (tx) => {
    const organization = await tx.organizations.findByNameForUpdate(name);
    // If several deleted organizations had this name, selects the one that still exists.
    if (organization?.status !== "active") {
      const pending = await tx.organizationDeletions.findPending(name, principal);
      if (!pending) throw organizationNotFound();
      return pending.organizationId;
    }
    authorize(caller, "organization:delete", { organizationId: organization.id });
    beginOrganizationDeletion(organization, app.now());
    await tx.organizations.save(organization);
    await tx.organizationDeletions.add(organization.id, name, principal, app.now());
    await tx.record(organizationDeleted(organization));
    return organization.id;
  });
  await syncOrganizationDeletion(app, organizationId);
}

/** Completes a deletion, or deletes a part of a large organization. Returns whether the deletion is complete. */
export async function syncOrganizationDeletion(app: App, id: OrganizationId): Promise<boolean> {
  await app.access.dropOrganization(id);
  while ((remainingMs() ?? RESERVE_MS) >= RESERVE_MS) {
    await removeSomeWorkspaces(app, id);
    if (await finishIfEmpty(app, id)) return true;
  }
  await app.leases.pendingSyncs.rescheduleOrganizationDeletion(id, app.now());
  return false;
}

/** Deletes the rest of an organization that has no workspaces left; returns false if it has some. */
const finishIfEmpty = (app: App, id: OrganizationId): Promise<boolean> =>
  app.transaction(async (tx) => {
    if (await tx.organizationDeletions.hasWorkspaces(id)) return false;
    await tx.organizationDeletions.finish(id);
    return true;
  });

async function removeSomeWorkspaces(app: App, id: OrganizationId): Promise<void> {
  await app.transaction(async (tx) => {
    const workspaces = await tx.organizationDeletions.workspacesForUpdate(id, BATCH);
    for (const workspace of workspaces) {
      touch(workspace, app.now());
      await tx.record(workspaceDeleted(workspace));
    }
    await tx.organizationDeletions.removeWorkspaces(workspaces, app.now());
  });
  const deletions = await app.reads.pendingSyncs.pendingDeletionsOf(id, BATCH);
  for (let start = 0; start < deletions.length; start += PARALLEL) {
    const some = deletions.slice(start, start + PARALLEL);
    const outcomes = await Promise.allSettled(some.map((deletion) => syncDeletion(app, deletion)));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }
}
