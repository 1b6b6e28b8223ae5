import type { App } from "./app.ts";
import { syncOrganization } from "./organization/app.ts";
import { syncOrganizationDeletion } from "./organization-deletion/app.ts";
import { syncDeletion } from "./workspace-deletion/app.ts";
import { syncPlacement } from "./workspace-placement/app.ts";

/**
 * Clears expired deletion locks. For each change that an interrupted request left incomplete, and that no event has
 * completed in time, claims the change for `RETRY_AFTER_MS` and returns a function that completes it. There is one list
 * of functions for each kind of change. The functions are independent: if another service does not respond, only the
 * functions that call that service fail and are postponed.
 */
export const overdueWork = async (app: App): Promise<(() => Promise<void>)[][]> => {
  const now = app.now();
  await app.leases.workspaces.endExpiredDeletionLocks(now);
  const organizations = await app.leases.pendingSyncs.claimUnprovisioned(now);
  const placements = await app.leases.pendingSyncs.claimPendingPlacements(now);
  const deletions = await app.leases.pendingSyncs.claimPendingDeletions(now);
  const dissolved = await app.leases.pendingSyncs.claimPendingOrganizationDeletions(now);
  return [
    organizations.map((organization) => () => syncOrganization(app, organization)),
    placements.map((placement) => () => syncPlacement(app, placement)),
    deletions.map((deletion) => () => syncDeletion(app, deletion)),
    dissolved.map(({ organizationId }) => async () => {
      await syncOrganizationDeletion(app, organizationId);
    }),
  ];
};
