import type { App } from "./app.ts";
import { syncOrganization } from "./organization.ts";
import { syncOrganizationDeletion } from "./organization-deletion.ts";
import { syncDeletion } from "./workspace-deletion.ts";
import { syncPlacement } from "./workspace-placement.ts";

/**
 * Completes what requests left half done and no event has completed: one unit of work for each. A
 * neighbour that does not answer only puts its part off.
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

/** Gets access's acknowledgement if it is still missing. */
export async function syncOrganizationById(app: App, id: string): Promise<void> {
  const organization = await app.reads.pendingSyncs.findUnprovisioned(id);
  if (organization) await syncOrganization(app, organization);
}

/** Tells access what of an organization's settings decides about credentials. */
export async function syncTokenSettings(app: App, organizationId: string): Promise<void> {
  const settings = await app.reads.organizations.tokenSettings(organizationId);
  if (settings) await app.access.setOrganizationSettings(settings);
}

/** Gets state's acknowledgement of where a workspace is, if it is still missing. */
export async function syncPlacementById(app: App, workspaceId: string): Promise<void> {
  const placement = await app.reads.pendingSyncs.findPendingPlacement(workspaceId);
  if (placement) await syncPlacement(app, placement);
}

/** Gets state's acknowledgement of a deletion if it is still missing. */
export async function syncDeletionById(app: App, workspaceId: string): Promise<void> {
  const deletion = await app.reads.pendingSyncs.findPendingDeletion(workspaceId);
  if (deletion) await syncDeletion(app, deletion);
}
