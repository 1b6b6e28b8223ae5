import type { WorkspaceReadmeService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { batchGetWorkspaceReadmes } from "../app/workspace-readme.ts";
import { idsIn } from "./ids.ts";

export const workspaceReadmeService = (app: App): ServiceImpl<typeof WorkspaceReadmeService> => ({
  batchGetWorkspaceReadmes: async ({ workspaceIds }, { caller }) => ({
    readmes: await batchGetWorkspaceReadmes(app, caller, idsIn("ws", workspaceIds)),
  }),
});
