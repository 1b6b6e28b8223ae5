import { noteActivity } from "../domain/auto-destroy.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import { applyStateSummary, type StateSummary } from "../domain/state-summary.ts";
import type { App } from "./app.ts";

/**
 * Stores a workspace's state summary, unless a newer one is stored or the workspace is deleted. A new state is
 * activity: it moves the workspace's scheduled destruction.
 */
export const applySummary = (
  app: Pick<App, "transaction" | "now">,
  workspaceId: WorkspaceId,
  summary: StateSummary,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.findForUpdate({ id: workspaceId });
    if (workspace && applyStateSummary(workspace, summary)) noteActivity(workspace, app.now());
  });
