import { idsIn } from "@statehouse/postgres/ids";
import type { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { workspaceId } from "../ids-rpc.ts";
import { lockToProto, workspaceToProto } from "../workspace/message-rpc.ts";
import { batchGetPlacements, getPlacement } from "../workspace-placement/app.ts";
import { forceUnlockWorkspace, getLock, lockWorkspace, unlockWorkspace } from "./app.ts";

export const workspaceLockService = (app: App): ServiceImpl<typeof WorkspaceLockService> => ({
  lockWorkspace: async ({ workspaceId: id, reason }, { caller }) => ({
    workspace: workspaceToProto(
      await lockWorkspace(app, caller, { workspaceId: workspaceId(id), reason }),
    ),
  }),
  unlockWorkspace: async ({ workspaceId: id }, { caller }) => ({
    workspace: workspaceToProto(await unlockWorkspace(app, caller, workspaceId(id))),
  }),
  forceUnlockWorkspace: async ({ workspaceId: id }, { caller }) => ({
    workspace: workspaceToProto(await forceUnlockWorkspace(app, caller, workspaceId(id))),
  }),
  getLock: async ({ workspaceId: id }) => {
    const { lock, placement } = await getLock(app, workspaceId(id));
    return { placement, ...(lock && { lock: lockToProto(lock) }) };
  },
  getPlacement: async ({ workspaceId: id }) => ({
    placement: await getPlacement(app, workspaceId(id)),
  }),
  batchGetPlacements: ({ workspaceIds }) => batchGetPlacements(app, idsIn("ws", workspaceIds)),
});
