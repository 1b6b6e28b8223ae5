import type { Target } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import { applyPlacement, type Placement, targetOf } from "../domain/workspace-state.ts";
import type { WorkspaceView } from "../store/reads.ts";
import type { App } from "./app.ts";

/** Where a workspace belongs now, told by workspaces. Only higher versions apply. */
export const setPlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    applyPlacement(await tx.workspaceForUpdate(placement.workspaceId), placement);
  });

/** The same from an event; a workspace without a row is asked for when somebody needs it. */
export const movePlacement = (app: App, placement: Placement): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.knownWorkspaceForUpdate(placement.workspaceId);
    if (workspace) applyPlacement(workspace, placement);
  });

/**
 * What authorization decides by, from state's own row; where that does not say, workspaces is asked
 * and its answer kept. Throws `notFound`.
 */
export async function placeWorkspace(
  app: App,
  workspaceId: WorkspaceId,
  known: WorkspaceView | undefined,
): Promise<Required<Target>> {
  if (known && (known.droppedAt || known.organizationId !== null)) return targetOf(known);
  const placement = await app.workspaces.getPlacement(workspaceId);
  return app.transaction(async (tx) => {
    const workspace = await tx.workspaceForUpdate(workspaceId);
    applyPlacement(workspace, placement);
    return targetOf(workspace);
  });
}
