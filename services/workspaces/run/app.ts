import type { Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { allowedRows } from "../caller-app.ts";
import type { OrganizationId, RunId, WorkspaceId } from "../ids-domain.ts";
import { workspaceNotFound } from "../workspace/domain.ts";
import { type RunView, runAlreadyEnded, runOfOtherWorkspace } from "./domain.ts";

/** Returns the runs among `ids` that were reported and whose workspaces the caller may read. */
export const batchGetRuns = async (
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<RunView[]> => allowedRows(caller, "workspace:read", await app.reads.runs.batch(ids));

/**
 * Called by the access service: returns the organization of a run's workspace, and the runner that reported the run. A
 * run that has not been reported yet can belong to any workspace. Throws `notFound`, and a conflict if the run belongs
 * to another workspace or has ended.
 */
export async function getRunPlacement(
  app: App,
  { runId, workspaceId }: { runId: RunId; workspaceId: WorkspaceId },
): Promise<{ organizationId: OrganizationId; runner: string | null }> {
  const found = await app.reads.runs.placement(runId, workspaceId);
  if (!found) throw workspaceNotFound();
  if (found.elsewhere) throw runOfOtherWorkspace();
  if (found.ended) throw runAlreadyEnded();
  const { organizationId, runner } = found;
  return { organizationId, runner };
}

/** Called by the access service: returns the runs among `ids` that have ended. */
export const listEndedRuns = (app: App, ids: readonly string[]): Promise<string[]> =>
  app.reads.runs.listEnded(ids);

/**
 * Called by the state service: returns the workspace that a run was reported for; undefined if the run was not reported
 * yet.
 */
export const getRunWorkspace = async (app: App, id: string): Promise<WorkspaceId | undefined> =>
  (await app.reads.runs.reporterOf(id))?.workspaceId;
