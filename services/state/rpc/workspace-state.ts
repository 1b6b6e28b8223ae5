import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { setPlacement } from "../app/workspace-placement.ts";
import {
  dropWorkspace,
  getManagedResources,
  listWorkspaceStates,
  sealLock,
} from "../app/workspace-state.ts";
import type { StateSummary } from "../domain/workspace-state.ts";
import type { Context } from "./context.ts";
import { workspaceIdOf } from "./ids.ts";

/** Called by workspaces only, which has authorized whoever it acts for. */
export const workspaceStateService = (
  app: App,
): ServiceImpl<typeof WorkspaceStateService, Context> => ({
  sealLock: async ({ workspaceId, epoch, discardPending }) => ({
    summary: summaryToProto(
      await sealLock(app, { workspaceId: workspaceIdOf(workspaceId), epoch, discardPending }),
    ),
  }),
  setPlacement: async ({ workspaceId, ...placement }) => {
    await setPlacement(app, { workspaceId: workspaceIdOf(workspaceId), ...placement });
    return {};
  },
  dropWorkspace: async ({ workspaceId }) => {
    await dropWorkspace(app, workspaceIdOf(workspaceId));
    return {};
  },
  getManagedResources: ({ workspaceId, epoch }) =>
    getManagedResources(app, { workspaceId: workspaceIdOf(workspaceId), epoch }),
  listWorkspaceStates: async (request) => ({
    workspaces: (await listWorkspaceStates(app, request)).map(({ summary, ...record }) => ({
      ...record,
      summary: summaryToProto(summary),
    })),
  }),
});

const summaryToProto = (summary: StateSummary) => ({
  workspaceId: summary.workspaceId,
  currentStateVersionId: summary.currentVersionId ?? "",
  resourceCount: summary.resourceCount,
  latestChangeAt: summary.latestChangeAt ? timestampFromDate(summary.latestChangeAt) : undefined,
  revision: summary.revision,
});
