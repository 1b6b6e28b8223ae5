import type { App } from "./app.ts";
import { syncOrganization } from "./organization.ts";
import { syncOrganizationDeletion } from "./organization-deletion.ts";
import { syncDeletion } from "./workspace-deletion.ts";
import { syncPlacement } from "./workspace-placement.ts";

/**
 * Completes interrupted requests that no event has completed: one unit of work for each. If another service does not
 * respond, only its part is postponed.
 */
export const overdueWork = async (app: App): Promise<(() => Promise<void>)[]> => {
  const now = app.now();
  await app.leases.workspaces.endExpiredDeletionLocks(now);
  const organizations = await app.leases.pendingSyncs.claimUnprovisioned(now);
  const placements = await app.leases.pendingSyncs.claimPendingPlacements(now);
  const deletions = await app.leases.pendingSyncs.claimPendingDeletions(now);
  const dissolved = await app.leases.pendingSyncs.claimPendingOrganizationDeletions(now);
  return [
    ...organizations.map((organization) => () => syncOrganization(app, organization)),
    ...placements.map((placement) => () => syncPlacement(app, placement)),
    ...deletions.map((deletion) => () => syncDeletion(app, deletion)),
    ...dissolved.map(({ organizationId }) => async () => {
      await syncOrganizationDeletion(app, organizationId);
    }),
  ];
};

/** Waits for the confirmation of access, if it is missing. */
export async function syncOrganizationById(app: App, id: string): Promise<void> {
  const organization = await app.reads.pendingSyncs.findUnprovisioned(id);
  if (organization) await syncOrganization(app, organization);
}

/** Sends access the organization settings that restrict credentials. */
export async function syncTokenSettings(app: App, organizationId: string): Promise<void> {
  const settings = await app.reads.organizations.tokenSettings(organizationId);
  if (settings) await app.access.setOrganizationSettings(settings);
}

/** Waits for state's confirmation of a workspace's placement, if it is missing. */
export async function syncPlacementById(app: App, workspaceId: string): Promise<void> {
  const placement = await app.reads.pendingSyncs.findPendingPlacement(workspaceId);
  if (placement) await syncPlacement(app, placement);
}

/** Waits for state's confirmation of a deletion, if it is missing. */
export async function syncDeletionById(app: App, workspaceId: string): Promise<void> {
  const deletion = await app.reads.pendingSyncs.findPendingDeletion(workspaceId);
  if (deletion) await syncDeletion(app, deletion);
}
