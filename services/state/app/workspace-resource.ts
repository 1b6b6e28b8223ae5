import type { Caller } from "@statehouse/authorization";
import type { WorkspaceId } from "../domain/ids.ts";
import type { WorkspaceResource } from "../domain/workspace-resource.ts";
import type { ResourceQuery } from "../store/workspace-resources.ts";
import type { App } from "./app.ts";
import { authorizeRead } from "./read-access.ts";
import { placeWorkspace } from "./workspace-placement.ts";

/** What the workspace's current state manages: part of the state, for those who may read it. */
export async function listWorkspaceResources(
  app: App,
  caller: Caller,
  { workspaceId, ...query }: { workspaceId: WorkspaceId } & ResourceQuery,
): Promise<{ resources: WorkspaceResource[]; total: number }> {
  const known = await app.reads.workspace(workspaceId);
  await authorizeRead(app, caller, "state:read", await placeWorkspace(app, workspaceId, known));
  return app.reads.listResources(workspaceId, query);
}
