import type { StateVersion } from "@statehouse/proto/statehouse/state/v1/state_version";
import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { RequestContext } from "../http/route.ts";

/** A state version with the run that created it, once that run is reported. */
export type ShownStateVersion = StateVersion & { run?: Run | undefined };

/** Loads the runs of all versions in one call; makes no call if no version has a run. */
export async function withRuns(
  versions: readonly StateVersion[],
  { runs }: Pick<RequestContext, "runs">,
): Promise<ShownStateVersion[]> {
  const ids = [...new Set(versions.flatMap(({ runId }) => (runId ? [runId] : [])))];
  if (ids.length === 0) return [...versions];
  const known = new Map((await runs(ids)).map((run) => [run.id, run]));
  return versions.map((version) => {
    const run = known.get(version.runId ?? "");
    // A client named the id before the run was reported, and the runner of another workspace reported it: not this
    // version's run.
    return { ...version, run: run?.workspaceId === version.workspaceId ? run : undefined };
  });
}

/** Loads the run of one version; undefined if it has none. */
export async function withRun(
  version: StateVersion | undefined,
  context: Pick<RequestContext, "runs">,
): Promise<ShownStateVersion | undefined> {
  return version && (await withRuns([version], context))[0];
}

/** Loads the run of a committed version. Never fails: returns no run if workspaces does not respond. */
export const withRunIfReported = (
  version: StateVersion | undefined,
  context: Pick<RequestContext, "runs">,
): Promise<ShownStateVersion | undefined> => withRun(version, context).catch(() => version);
