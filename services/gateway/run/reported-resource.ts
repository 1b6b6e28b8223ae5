import type { StateVersion } from "@statehouse/proto/statehouse/state/v1/state_version";
import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { RequestContext } from "../http/route.ts";

/** A state version, with the run that created it if that run has been reported. */
export type ShownStateVersion = StateVersion & { run?: Run | undefined };

/** Loads the runs of all state versions in one call. Makes no call if no version has a run. */
export async function withRuns(
  versions: readonly StateVersion[],
  { runs }: Pick<RequestContext, "runs">,
): Promise<ShownStateVersion[]> {
  const ids = [...new Set(versions.flatMap(({ runId }) => (runId ? [runId] : [])))];
  if (ids.length === 0) return [...versions];
  const known = new Map((await runs(ids)).map((run) => [run.id, run]));
  return versions.map((version) => {
    const run = known.get(version.runId ?? "");
    // A client can name a run id before the run is reported. If the reported run belongs to another workspace, it did
    // not create this version.
    return { ...version, run: run?.workspaceId === version.workspaceId ? run : undefined };
  });
}

interface StateVersionResponse {
  stateVersion?: StateVersion | undefined;
}

/**
 * Loads the run of a response's state version. The run is undefined if the version has none or the run has not been
 * reported.
 */
export async function withRun(
  { stateVersion }: StateVersionResponse,
  context: Pick<RequestContext, "runs">,
): Promise<{ stateVersion?: ShownStateVersion | undefined }> {
  return stateVersion ? { stateVersion: (await withRuns([stateVersion], context))[0] } : {};
}

/**
 * Loads the run of a committed state version. If the run cannot be loaded, returns the version without a run instead of
 * throwing an error.
 */
export const withRunIfReported = (
  response: StateVersionResponse,
  context: Pick<RequestContext, "runs">,
) => withRun(response, context).catch(() => response);
