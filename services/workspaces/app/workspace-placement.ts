import type { WorkspaceId } from "../domain/ids.ts";
import { type Workspace, workspaceNotFound } from "../domain/workspace.ts";
import { type Placement, pendingPlacement } from "../domain/workspace-placement.ts";
import type { App } from "./app.ts";

/** Sends state the workspace's placement, unless it is confirmed. Throws `unavailable` if state does not respond. */
export async function syncPendingPlacement(app: App, workspace: Workspace): Promise<void> {
  const placement = pendingPlacement(workspace);
  if (placement) await syncPlacement(app, placement);
}

/** Waits for state's confirmation of a placement. */
export async function syncPlacement(app: App, placement: Placement): Promise<void> {
  await app.state.setPlacement(placement);
  await app.leases.pendingSyncs.markPlacementSynced(placement);
}

/** For state: the placement of a workspace. Throws `notFound`. */
export async function getPlacement(app: App, id: WorkspaceId): Promise<Placement> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found.placement;
}
