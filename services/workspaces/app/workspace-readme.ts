import { allowed, type Caller, grantsOf } from "@statehouse/authorization";
import type { WorkspaceReadme } from "../domain/workspace-readme.ts";
import type { App } from "./app.ts";

/** The readmes of those of the workspaces that have one and that the caller may read. */
export async function batchGetWorkspaceReadmes(
  app: App,
  caller: Caller,
  workspaceIds: readonly string[],
): Promise<WorkspaceReadme[]> {
  const grants = grantsOf(caller);
  const readmes = await app.reads.workspaceReadmes.batch(workspaceIds);
  return readmes.filter((readme) => allowed(grants, "workspace:read", readme));
}

/** Stores a runner's report of a readme, unless a newer one is stored. Throws `notFound` for the workspace. */
export const reportWorkspaceReadme = (
  app: App,
  readme: WorkspaceReadme,
  revision: bigint,
): Promise<void> =>
  app.transaction(async (tx) => {
    await tx.workspaces.getForUpdate({ id: readme.workspaceId });
    await tx.workspaceReadmes.save(readme, revision);
  });
