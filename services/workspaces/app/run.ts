import { allowed, type Caller, grantsOf } from "@statehouse/authorization";
import { runAlreadyEnded, runOfOtherWorkspace, workspaceNotFound } from "../domain/errors.ts";
import type { OrganizationId, RunId, WorkspaceId } from "../domain/ids.ts";
import type { RunView } from "../domain/run.ts";
import type { App } from "./app.ts";

/** Those of `ids` that were reported and whose workspaces the caller may read. */
export async function batchGetRuns(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<RunView[]> {
  const grants = grantsOf(caller);
  const runs = await app.reads.runs.batch(ids);
  return runs.filter((run) => allowed(grants, "workspace:read", run));
}

/**
 * For access: the organization of a run's workspace. Throws `notFound`, and a conflict when the run is
 * another workspace's or has ended; one that is not reported yet may be anybody's.
 */
export async function getRunPlacement(
  app: App,
  { runId, workspaceId }: { runId: RunId; workspaceId: WorkspaceId },
): Promise<OrganizationId> {
  const found = await app.reads.runs.placement(runId, workspaceId);
  if (!found) throw workspaceNotFound();
  if (found.elsewhere) throw runOfOtherWorkspace();
  if (found.ended) throw runAlreadyEnded();
  return found.organizationId;
}

/** For state: the workspace that a run was reported for; undefined while it is not reported. */
export const workspaceOfRun = (app: App, id: string): Promise<WorkspaceId | undefined> =>
  app.reads.runs.workspaceOf(id);
