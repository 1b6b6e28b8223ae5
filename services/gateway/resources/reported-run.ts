import type { StateVersion } from "@statehouse/proto/statehouse/state/v1/state_version";
import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { RequestContext } from "../http/route.ts";

/** A state version with the run that made it, once that run is reported. */
export type ShownStateVersion = StateVersion & { run?: Run | undefined };

/** Asks workspaces for the runs of all versions at once; not at all when none has any. */
export async function withRuns(
  versions: readonly StateVersion[],
  { client, caller }: Pick<RequestContext, "client" | "caller">,
): Promise<ShownStateVersion[]> {
  const ids = [...new Set(versions.flatMap(({ runId }) => (runId ? [runId] : [])))];
  if (ids.length === 0) return [...versions];
  const { runs } = await client(RunService).batchGetRuns({ ids }, caller);
  const known = new Map(runs.map((run) => [run.id, run]));
  return versions.map((version) => {
    const run = known.get(version.runId ?? "");
    // Named before anybody knew it, and then reported by another workspace's runner: not its run.
    return { ...version, run: run?.workspaceId === version.workspaceId ? run : undefined };
  });
}

/** The same for one version; undefined where there is none. */
export async function withRun(
  version: StateVersion | undefined,
  context: Pick<RequestContext, "client" | "caller">,
): Promise<ShownStateVersion | undefined> {
  return version && (await withRuns([version], context))[0];
}

/** The same after a commit, which no failure may follow: without the run when workspaces does not tell. */
export const withRunIfTold = (
  version: StateVersion | undefined,
  context: Pick<RequestContext, "client" | "caller">,
): Promise<ShownStateVersion | undefined> => withRun(version, context).catch(() => version);
