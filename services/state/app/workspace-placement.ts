import type { Target } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import {
  applyPlacement,
  type Placement,
  targetOf,
  type WorkspaceStateView,
} from "../domain/workspace-state.ts";
import type { App } from "./app.ts";

/** Stores the placement of a workspace as the service workspaces sent it. Only higher versions apply. */
export const setPlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(placement.workspaceId);
    applyPlacement(workspaceState, placement);
  });

/** Like `setPlacement`, for an event. Inserts no row: `placeWorkspace` loads the placement when it is needed. */
export const movePlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.findForUpdate(placement.workspaceId);
    if (workspaceState) applyPlacement(workspaceState, placement);
  });

/**
 * Returns the target of authorization from state's own row. If no placement is stored, calls the service workspaces
 * and stores the result. Throws `notFound`.
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
