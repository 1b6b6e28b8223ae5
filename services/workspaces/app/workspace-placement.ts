import type { WorkspaceId } from "../domain/ids.ts";
import { type Workspace, workspaceNotFound } from "../domain/workspace.ts";
import { type Placement, pendingPlacement } from "../domain/workspace-placement.ts";
import type { App } from "./app.ts";

/**
 * Sends the workspace's placement to state unless state has confirmed it. Throws `unavailable` if state does not
 * respond.
 */
export async function syncPendingPlacement(app: App, workspace: Workspace): Promise<void> {
  const placement = pendingPlacement(workspace);
  if (placement) await syncPlacement(app, placement);
}

/** Calls state until it confirms a placement. */
export async function syncPlacement(app: App, placement: Placement): Promise<void> {
  await app.state.setPlacement(placement);
  await app.leases.pendingSyncs.markPlacementSynced(placement);
}

/** Called by state: returns the placement of a workspace. Throws `notFound`. */
export async function getPlacement(app: App, id: WorkspaceId): Promise<Placement> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found.placement;
}
