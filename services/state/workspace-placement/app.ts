import type { Target } from "@statehouse/authorization";
import type { App } from "../app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { dropWorkspace } from "../workspace-state/app.ts";
import {
  applyPlacement,
  type Placement,
  replacePlacement,
  targetOf,
  type WorkspaceStateView,
} from "../workspace-state/domain.ts";

/**
 * Stores the placement of a workspace if its version is higher than the stored version, or if the stored version equals
 * `replaces`: a version that the workspaces service cannot have assigned, or has lost in a restore. Called with
 * placements that the workspaces service has sent.
 */
export const setPlacement = (
  app: App,
  placement: Placement,
  { replaces }: { replaces?: bigint | undefined } = {},
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(placement.workspaceId);
    if (workspaceState.placementVersion === replaces) replacePlacement(workspaceState, placement);
    else applyPlacement(workspaceState, placement);
  });

/**
 * Requests the placements of these workspaces from the workspaces service, and applies the moves and deletions that its
 * response confirms. Inserts no row for a workspace that has none: `placeWorkspace` loads the placement when it is
 * needed.
 */
export async function refreshWorkspaces(app: App, ids: readonly WorkspaceId[]): Promise<void> {
  const { placements, deletedWorkspaceIds } = await app.workspaces.batchGetPlacements(ids);
  const records = await app.reads.workspaceStates.listRecords(ids);
  const known = new Map(records.map((record) => [record.workspaceId, record]));
  for (const placement of placements) {
    const record = known.get(placement.workspaceId);
    if (record && !record.dropped && record.placementVersion < placement.version) {
      await setPlacement(app, placement);
    }
  }
  for (const workspaceId of deletedWorkspaceIds) {
    if (!known.get(workspaceId)?.dropped) await dropWorkspace(app, workspaceId);
  }
}

/**
 * Returns the target of authorization for a workspace, from its stored placement. If no placement is stored, gets the
 * placement from the workspaces service and stores it. Throws `notFound`.
 */
export async function placeWorkspace(
  app: App,
  workspaceId: WorkspaceId,
  known: WorkspaceStateView | undefined,
): Promise<Required<Target>> {
  if (known && (known.droppedAt || known.organizationId !== null)) return targetOf(known);
  const placement = await app.workspaces.getPlacement(workspaceId);
  return app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(workspaceId);
    applyPlacement(workspaceState, placement);
    return targetOf(workspaceState);
  });
}
