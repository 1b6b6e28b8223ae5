import type { WorkspaceReadme } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import { WorkspaceReadmeService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/** The most recent README.md that a runner reported. A workspace has at most one, with the same id as the workspace. */
export const workspaceReadmeResource = resource<WorkspaceReadme, RequestContext>({
  type: "workspace-readme",
  id: ({ workspaceId }) => workspaceId,
  attributes: {
    "raw-markdown": [z.string(), ({ rawMarkdown }) => rawMarkdown],
  },
  loadMany: async (workspaceIds, { client, caller }) =>
    (
      await client(WorkspaceReadmeService).batchGetWorkspaceReadmes(
        { workspaceIds: [...workspaceIds] },
        caller,
      )
    ).readmes,
});
