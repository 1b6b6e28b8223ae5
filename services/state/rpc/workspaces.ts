import type { WorkspacePlacement } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { Workspaces } from "../app/app.ts";
import { workspaceNotFound } from "../domain/errors.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import type { Placement } from "../domain/workspace-state.ts";

/** The service workspaces, asked in state's own name. */
export function workspacesOver(channel: Channel, identity: CallOptions): Workspaces {
  const client = createClient(WorkspaceLockService, channel, identity);
  return {
    async getLock(workspaceId) {
      const { lock, placement } = await client.getLock({ workspaceId });
      return {
        placement: placementFrom(workspaceId, placement),
        lock: lock
          ? { holder: { type: lock.holderType, id: lock.holderId }, epoch: lock.epoch }
          : null,
      };
    },
    async getPlacement(workspaceId) {
      const { placement } = await client.getPlacement({ workspaceId });
      return placementFrom(workspaceId, placement);
    },
  };
}

function placementFrom(
  workspaceId: WorkspaceId,
  placement: WorkspacePlacement | undefined,
): Placement {
  if (!placement) throw workspaceNotFound();
  const { organizationId, projectId, version } = placement;
  return { workspaceId, organizationId, projectId, version };
}
