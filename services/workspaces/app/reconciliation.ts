import type { App } from "./app.ts";
import { settleOrganization } from "./organization.ts";
import { settleOrganizationDeletion } from "./organization-deletion.ts";
import { settleDeletion } from "./workspace-deletion.ts";
import { sendPlacement } from "./workspace-placement.ts";

/**
 * Completes what requests left half done and no event has completed: one unit of work for each. A
 * neighbour that does not answer only puts its part off.
 */
export const overdueWork = async (app: App): Promise<(() => Promise<void>)[]> => {
  const now = app.now();
  await app.deletionLocks.endExpired(now);
  const organizations = await app.acknowledgements.claimUnprovisioned(now);
  const placements = await app.acknowledgements.claimUnsettledPlacements(now);
  const deletions = await app.acknowledgements.claimPendingDeletions(now);
  const dissolved = await app.acknowledgements.claimPendingOrganizationDeletions(now);
  return [
    ...organizations.map((organization) => () => settleOrganization(app, organization)),
    ...placements.map((placement) => () => sendPlacement(app, placement)),
    ...deletions.map((deletion) => () => settleDeletion(app, deletion)),
    ...dissolved.map(({ organizationId }) => async () => {
      await settleOrganizationDeletion(app, organizationId);
    }),
  ];
};

/** Gets access's acknowledgement if it is still missing. */
export async function settleOrganizationById(app: App, id: string): Promise<void> {
  const organization = await app.acknowledgements.findUnprovisioned(id);
  if (organization) await settleOrganization(app, organization);
}

/** Tells access what of an organization's settings decides about credentials. */
export async function settleTokenSettings(app: App, organizationId: string): Promise<void> {
  const settings = await app.reads.organizations.tokenSettings(organizationId);
  if (settings) await app.access.setOrganizationSettings(settings);
}

/** Gets state's acknowledgement of where a workspace is, if it is still missing. */
export async function settlePlacementById(app: App, workspaceId: string): Promise<void> {
  const placement = await app.acknowledgements.findUnsettledPlacement(workspaceId);
  if (placement) await sendPlacement(app, placement);
}

/** Gets state's acknowledgement of a deletion if it is still missing. */
export async function settleDeletionById(app: App, workspaceId: string): Promise<void> {
  const deletion = await app.acknowledgements.findPendingDeletion(workspaceId);
  if (deletion) await settleDeletion(app, deletion);
}
