import { isId } from "@statehouse/postgres/ids";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { RemoteStateConsumerService } from "@statehouse/proto/statehouse/workspaces/v1/remote_state_consumer";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import {
  WorkspaceLockService,
  type WorkspacePlacement,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { WorkspacesClient } from "../clients-app.ts";
import { workspaceNotFound } from "../errors-domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Placement } from "../workspace-state/domain.ts";

/** Creates the client for the workspaces service. It calls with the state service's own identity. */
export function createWorkspacesClient(channel: Channel, identity: CallOptions): WorkspacesClient {
  const locks = createClient(WorkspaceLockService, channel, identity);
  const policies = createClient(DataRetentionPolicyService, channel, identity);
  const organizations = createClient(OrganizationService, channel, identity);
  const runs = createClient(RunService, channel, identity);
  const consumers = createClient(RemoteStateConsumerService, channel, identity);
  return {
    async getLock(workspaceId) {
      const { lock, placement } = await locks.getLock({ workspaceId });
      return {
        placement: placementFrom(workspaceId, placement),
        lock: lock
          ? { holder: { type: lock.holderType, id: lock.holderId }, epoch: lock.epoch }
          : null,
      };
    },
    async getPlacement(workspaceId) {
      const { placement } = await locks.getPlacement({ workspaceId });
      return placementFrom(workspaceId, placement);
    },
    async getRunWorkspace(runId) {
      const { workspaceId } = await runs.getRunWorkspace({ runId });
      return workspaceId || null;
    },
    async batchGetPlacements(workspaceIds) {
      const { placements, deletedWorkspaceIds } = await locks.batchGetPlacements({
        workspaceIds: [...workspaceIds],
      });
      return {
        placements: placements.flatMap((placement) =>
          isId("ws", placement.workspaceId) ? placementFrom(placement.workspaceId, placement) : [],
        ),
        deletedWorkspaceIds: deletedWorkspaceIds.filter((id) => isId("ws", id)),
      };
    },
    async batchGetBilling(organizationIds) {
      const { billings } = await organizations.batchGetBilling({
        organizationIds: [...organizationIds],
      });
      return billings;
    },
    async batchGetRetention(workspaceIds) {
      const { retentions, version } = await policies.batchGetRetention({
        workspaceIds: [...workspaceIds],
      });
      return {
        version,
        retentions: retentions.flatMap(({ workspaceId, organizationId, plan, ...policy }) =>
          isId("ws", workspaceId)
            ? {
                workspaceId,
                organizationId,
                deleteOlderThanNDays: policy.deleteOlderThanNDays ?? null,
                freeTier: plan === "free",
              }
            : [],
        ),
      };
    },
    async listReadableByRun({ runId, consumerId, workspaceIds }) {
      const readable = await consumers.mayReadAsConsumer({
        runId,
        consumerWorkspaceId: consumerId,
        workspaceIds: [...workspaceIds],
      });
      return new Set(readable.workspaceIds);
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
