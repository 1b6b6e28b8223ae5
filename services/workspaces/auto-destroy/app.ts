import type { App } from "../app.ts";
import { touch } from "../revision-domain.ts";
import { workspaceAutoDestroyDue } from "../workspace/events-store.ts";
import { takeDueMoment } from "./domain.ts";

/** Maximum number of workspaces in one transaction. */
const BATCH = 50;

/**
 * Takes a batch of workspaces that have a due destroy run, publishes one event for each of them, and returns their
 * number. Concurrent replicas take different workspaces. If a replica crashes before the commit, no event of its
 * transaction is published, and another replica takes its workspaces.
 */
export const publishDueAutoDestroys = (app: Pick<App, "transaction" | "now">): Promise<number> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspaces = await tx.workspaces.dueForAutoDestroy(now, BATCH);
    for (const workspace of workspaces) {
      const dueAt = takeDueMoment(workspace, now);
      if (!dueAt) continue;
      touch(workspace, now);
      await tx.record(workspaceAutoDestroyDue(workspace, dueAt));
    }
    return workspaces.length;
  });
