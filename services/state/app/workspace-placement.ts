import type { Target } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import {
  applyPlacement,
  type Placement,
  targetOf,
  type WorkspaceStateView,
} from "../domain/workspace-state.ts";
import type { App } from "./app.ts";

/** Stores the placement of a workspace, as the service workspaces sent it. Only higher versions apply. */
export const setPlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(placement.workspaceId);
    applyPlacement(workspaceState, placement);
  });

/** As `setPlacement`, for an event. Inserts no row: `placeWorkspace` loads the placement when it is needed. */
export const movePlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.findForUpdate(placement.workspaceId);
    if (workspaceState) applyPlacement(workspaceState, placement);
  });

/**
 * The target of authorization, from state's own row. Without a stored placement the service workspaces is called and
 * its answer stored. Throws `notFound`.
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
