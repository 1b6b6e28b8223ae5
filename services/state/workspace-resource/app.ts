import type { Caller } from "@statehouse/authorization";
import type { Page } from "@statehouse/postgres";
import type { App } from "../app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { authorizeRead } from "../state-access-app.ts";
import { placeWorkspace } from "../workspace-placement/app.ts";
import type { WorkspaceResource } from "./domain.ts";
import type { ResourceQuery } from "./store.ts";

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
