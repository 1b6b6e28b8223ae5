import type { Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { allowedRows } from "../caller-app.ts";
import type { WorkspaceReadme } from "./domain.ts";

/** Returns the readmes of the workspaces that the caller may read; workspaces without a readme are omitted. */
export const batchGetWorkspaceReadmes = async (
  app: App,
  caller: Caller,
  workspaceIds: readonly string[],
): Promise<WorkspaceReadme[]> =>
  allowedRows(caller, "workspace:read", await app.reads.workspaceReadmes.batch(workspaceIds));

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
