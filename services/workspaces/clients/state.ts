import { timestampDate } from "@bufbuild/protobuf/wkt";
import { RetentionService } from "@statehouse/proto/statehouse/state/v1/retention";
import {
  type StateSummary as SummaryMessage,
  WorkspaceStateService,
} from "@statehouse/proto/statehouse/state/v1/workspace_state";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { StateClient } from "../clients-app.ts";
import type { StateSummary } from "../state-summary/domain.ts";

/** Creates the client for the state service. */
export function createStateClient(channel: Channel, identity: CallOptions): StateClient {
  const states = createClient(WorkspaceStateService, channel, identity);
  const retention = createClient(RetentionService, channel, identity);
  return {
    async sealLock(workspaceId, epoch, { discardPending }) {
      const { summary } = await states.sealLock({ workspaceId, epoch, discardPending });
      if (!summary) throw new Error("the state service's response contains no summary");
      return summaryFromProto(summary);
    },
    async setPlacement(placement, options) {
      await states.setPlacement({ ...placement, ...options });
    },
    async dropWorkspace(workspaceId, organizationId) {
      await states.dropWorkspace({ workspaceId, ...(organizationId ? { organizationId } : {}) });
    },
    async managedResources(workspaceId, epoch) {
      const { resourceCount, processed } = await states.getManagedResources({ workspaceId, epoch });
      return { count: resourceCount, processed };
    },
    async raiseRetentionVersion(version) {
      await retention.raiseRetentionVersion({ version });
    },
    async listWorkspaces(which) {
      const { workspaces } = await states.listWorkspaceStates(
        "after" in which ? which : { workspaceIds: [...which.workspaceIds] },
      );
      return workspaces.map(({ summary, placementVersion, dropped }) => {
        if (!summary) throw new Error("the state service's response contains no summary");
        const { workspaceId } = summary;
        return { workspaceId, summary: summaryFromProto(summary), placementVersion, dropped };
      });
    },
  };
}

/** Converts a state summary from its message. */
const summaryFromProto = ({
  currentStateVersionId,
  resourceCount,
  latestChangeAt,
  revision,
}: SummaryMessage): StateSummary => ({
  currentStateVersionId: currentStateVersionId || null,
  resourceCount,
  latestChangeAt: latestChangeAt ? timestampDate(latestChangeAt) : null,
  revision,
});
