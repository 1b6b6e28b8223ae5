import { allowed, type Caller, grantsOf } from "@statehouse/authorization";
import type { App } from "../app.ts";
import type { WorkspaceReadme } from "./domain.ts";

/** Returns the readmes of the workspaces that the caller may read; workspaces without a readme are omitted. */
export async function batchGetWorkspaceReadmes(
  app: App,
  caller: Caller,
  workspaceIds: readonly string[],
): Promise<WorkspaceReadme[]> {
  const grants = grantsOf(caller);
  const readmes = await app.reads.workspaceReadmes.batch(workspaceIds);
  return readmes.filter((readme) => allowed(grants, "workspace:read", readme));
}

/**
 * Stores a runner's report of a readme, unless a newer report is stored. Throws `notFound` if the workspace does not
 * exist.
 */
export const reportWorkspaceReadme = (
  app: App,
  readme: WorkspaceReadme,
  revision: bigint,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { id, organizationId } = await tx.workspaces.getForUpdate({ id: readme.workspaceId });
    await tx.workspaceReadmes.save(readme, revision);
    await tx.audit({
      organization: organizationId,
      action: "workspace-readme.report",
      resource: { type: "workspace", id },
    });
  });
