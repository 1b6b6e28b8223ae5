import { workspaceNotFound } from "../domain/errors.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import type { Workspace } from "../domain/workspace.ts";
import { type Placement, pendingPlacement } from "../domain/workspace-placement.ts";
import type { App } from "./app.ts";

/** Tells state where the workspace is now, unless it knows. Throws `unavailable` without its answer. */
export async function syncPendingPlacement(app: App, workspace: Workspace): Promise<void> {
  const placement = pendingPlacement(workspace);
  if (placement) await syncPlacement(app, placement);
}

/** Gets state's acknowledgement of a placement. */
export async function syncPlacement(app: App, placement: Placement): Promise<void> {
  await app.state.setPlacement(placement);
  await app.leases.pendingSyncs.markPlacementSynced(placement);
}

/** For state: where a workspace belongs. Throws `notFound`. */
export async function getPlacement(app: App, id: WorkspaceId): Promise<Placement> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found.placement;
}
