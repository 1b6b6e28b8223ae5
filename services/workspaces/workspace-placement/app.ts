import { authorize, type Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { type Workspace, workspaceNotFound } from "../workspace/domain.ts";
import { type Placement, pendingPlacement } from "./domain.ts";

/**
 * Sends the workspace's placement to the state service, unless that service has already confirmed it. Throws
 * `unavailable` if the state service does not respond.
 */
export async function syncPendingPlacement(app: App, workspace: Workspace): Promise<void> {
  const placement = pendingPlacement(workspace);
  if (placement) await syncPlacement(app, placement);
}

/**
 * Sends a placement to the state service and records that it was confirmed. The state service ignores it if the stored
 * version is higher, unless that is still `replacedVersion`: a version that this service has never assigned, or has lost
 * in a restore.
 */
export async function syncPlacement(
  app: App,
  placement: Placement,
  replaced?: { replacedVersion: bigint },
): Promise<void> {
  await app.state.setPlacement(placement, replaced);
  await app.leases.pendingSyncs.markPlacementSynced(placement);
}

/** The placements of the requested workspaces that exist, and the ids of those that are deleted. */
export interface Placements {
  placements: Placement[];
  deletedWorkspaceIds: string[];
}

/** Called by other services, for example after an event: returns the current placements of these workspaces. */
export async function batchGetPlacements(app: App, ids: readonly string[]): Promise<Placements> {
  const records = [...(await app.reads.stateComparisons.ofWorkspaces(ids))];
  return {
    placements: records.flatMap(([, record]) => (record.deleted ? [] : record.placement)),
    deletedWorkspaceIds: records.flatMap(([id, record]) => (record.deleted ? id : [])),
  };
}

/** Called by the access and state services: returns the placement of a workspace. Throws `notFound`. */
export async function getPlacement(app: App, id: WorkspaceId): Promise<Placement> {
  const found = await app.reads.workspaces.lockAndPlacement(id);
  if (!found) throw workspaceNotFound();
  return found.placement;
}

/** Returns the placement of a workspace. Throws `notFound` if it does not exist or the caller cannot read it. */
export async function getReadablePlacement(
  app: App,
  caller: Caller,
  id: WorkspaceId,
): Promise<Placement> {
  const placement = await getPlacement(app, id);
  authorize(caller, "workspace:read", placement);
  return placement;
}
