import type { Caller } from "@statehouse/authorization";
import type { Page } from "@statehouse/postgres";
import type { WorkspaceId } from "../domain/ids.ts";
import type { WorkspaceResource } from "../domain/workspace-resource.ts";
import type { ResourceQuery } from "../store/workspace-resource.ts";
import type { App } from "./app.ts";
import { authorizeRead } from "./state-access.ts";
import { placeWorkspace } from "./workspace-placement.ts";

/** Lists the resources that the workspace's current state manages, if the caller may read the state. */
export async function listWorkspaceResources(
  app: App,
  caller: Caller,
  { workspaceId, ...query }: { workspaceId: WorkspaceId } & ResourceQuery,
): Promise<Page<WorkspaceResource>> {
  const known = await app.reads.workspaceStates.find(workspaceId);
  await authorizeRead(app, caller, "state:read", await placeWorkspace(app, workspaceId, known));
  return app.reads.workspaceResources.list(workspaceId, query);
}
