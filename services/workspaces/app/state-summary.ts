import type { StateSummary } from "../domain/state-summary.ts";
import type { App } from "./app.ts";

/** Takes over what state says of a workspace, unless something newer is known or the workspace is gone. */
export const applySummary = (app: App, workspaceId: string, summary: StateSummary): Promise<void> =>
  app.stateSummaries.apply(workspaceId, summary);
