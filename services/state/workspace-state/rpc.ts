import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { workspaceId } from "../ids-rpc.ts";
import { setPlacement } from "../workspace-placement/app.ts";
import { dropWorkspace, getManagedResources, listWorkspaceStates, sealLock } from "./app.ts";
import type { StateSummary } from "./domain.ts";

/** Only the workspaces service calls these methods, after it has authorized its own caller. */
export const workspaceStateService = (app: App): ServiceImpl<typeof WorkspaceStateService> => ({
  sealLock: async ({ workspaceId: id, epoch, discardPending }) => ({
    summary: summaryToProto(
      await sealLock(app, { workspaceId: workspaceId(id), epoch, discardPending }),
    ),
  }),
  setPlacement: async ({ workspaceId: id, replacedVersion, ...placement }) => {
    const replaces = { replaces: replacedVersion };
    await setPlacement(app, { workspaceId: workspaceId(id), ...placement }, replaces);
    return {};
  },
  dropWorkspace: async ({ workspaceId: id }) => {
    await dropWorkspace(app, workspaceId(id));
    return {};
  },
  getManagedResources: ({ workspaceId: id, epoch }) =>
    getManagedResources(app, { workspaceId: workspaceId(id), epoch }),
  listWorkspaceStates: async (request) => ({
    workspaces: (await listWorkspaceStates(app, request)).map((record) => ({
      ...record,
      summary: summaryToProto(record),
    })),
  }),
});

const summaryToProto = ({ currentVersionId, latestChangeAt, ...summary }: StateSummary) => ({
  ...summary,
  currentStateVersionId: currentVersionId ?? "",
  latestChangeAt: latestChangeAt ? timestampFromDate(latestChangeAt) : undefined,
});
