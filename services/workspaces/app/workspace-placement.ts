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

/** Sends state the placement instead of one with a version that this service has never assigned. */
export async function replacePlacement(
  app: App,
  placement: Placement,
  replacedVersion: bigint,
): Promise<void> {
  await app.state.setPlacement(placement, { replacedVersion });
  await app.leases.pendingSyncs.markPlacementSynced(placement);
}

/** The workspaces that exist, and which of the others are deleted. */
export interface Placements {
  placements: Placement[];
  deletedWorkspaceIds: string[];
}

/** Called by services that received an event about these workspaces. */
export async function batchGetPlacements(app: App, ids: readonly string[]): Promise<Placements> {
  const records = [...(await app.reads.stateComparisons.ofWorkspaces(ids))];
  return {
    placements: records.flatMap(([, record]) => (record.deleted ? [] : record.placement)),
    deletedWorkspaceIds: records.flatMap(([id, record]) => (record.deleted ? id : [])),
  };
}

/** Called by state: returns the placement of a workspace. Throws `notFound`. */
export async function getPlacement(app: App, id: WorkspaceId): Promise<Placement> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found.placement;
}
