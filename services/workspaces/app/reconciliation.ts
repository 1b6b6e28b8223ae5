import type { App } from "./app.ts";
import { settleOrganization } from "./organization.ts";
import { settleDeletion } from "./workspace-deletion.ts";
import { sendPlacement } from "./workspace-placement.ts";

/**
 * Completes what requests left half done and no event has completed: one unit of work for each. A
 * neighbour that does not answer only puts its part off.
 */
export const overdueWork = async (app: App): Promise<(() => Promise<void>)[]> => {
  const now = app.now();
  await app.deletionLocks.endExpired(now);
  const [organizations, placements, deletions] = await Promise.all([
    app.acknowledgements.claimUnprovisioned(now),
    app.acknowledgements.claimUnsettledPlacements(now),
    app.acknowledgements.claimPendingDeletions(now),
  ]);
  return [
    ...organizations.map((organization) => () => settleOrganization(app, organization)),
    ...placements.map((placement) => () => sendPlacement(app, placement)),
    ...deletions.map((deletion) => () => settleDeletion(app, deletion)),
  ];
};
