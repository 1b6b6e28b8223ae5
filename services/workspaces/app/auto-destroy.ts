import { takeDueMoment } from "../domain/auto-destroy.ts";
import { touch } from "../domain/revision.ts";
import { workspaceAutoDestroyDue } from "../domain/workspace.ts";
import type { App } from "./app.ts";

/** Workspaces in one transaction. */
const BATCH = 50;

/**
 * Publishes an event for each workspace whose destroy run is due, once, and returns their number. Concurrent replicas
 * take different workspaces. A replica that crashes publishes no event, and another replica publishes its events.
 */
export const publishDueAutoDestroys = (app: Pick<App, "transaction" | "now">): Promise<number> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const ids = await tx.workspaces.dueForAutoDestroy(now, BATCH);
    for (const id of ids) {
      const workspace = await tx.workspaces.getForUpdate({ id });
      const dueAt = takeDueMoment(workspace, now);
      if (!dueAt) continue;
      touch(workspace, now);
      await tx.record(workspaceAutoDestroyDue(workspace, dueAt));
    }
    return ids.length;
  });
