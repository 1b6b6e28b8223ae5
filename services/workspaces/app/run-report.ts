import { noteActivity } from "../domain/auto-destroy.ts";
import { reportedElsewhere } from "../domain/errors.ts";
import { isNewer, type Performance, WINDOW, withoutRun, withRun } from "../domain/performance.ts";
import { isEnded, type Run, runEnded } from "../domain/run.ts";
import type { Tx } from "../store/nouns.ts";
import type { KeptRun } from "../store/run.ts";
import type { App } from "./app.ts";

/**
 * Takes over what a runner says of a run, unless something newer is known or its workspace is gone. The
 * workspace's row is held meanwhile: what is kept on it follows its runs one at a time.
 */
export const reportRun = (app: Pick<App, "transaction" | "now">, run: Run): Promise<void> =>
  app.transaction(async (tx) => {
    const { workspaceId } = run;
    const workspace = await tx.workspaces.findForUpdate({ id: workspaceId });
    if (!workspace) return;
    const known = await tx.runs.find(run.id);
    if (known && known.workspaceId !== workspaceId) throw reportedElsewhere(run.id);
    if (known && known.revision >= run.revision) return;
    await tx.runs.save(run);
    await tx.runs.showOn(workspaceId);
    await keepPerformance(tx, run, known);
    if (isActivity(run)) noteActivity(workspace, app.now());
    if (isEnded(run.status) && !(known && isEnded(known.status))) {
      await tx.record(runEnded(run, workspace.organizationId));
    }
  });

/** Destroying is what the schedule is for: it does not put the next one off. */
const isActivity = ({ isDestroy }: Run): boolean => !isDestroy;

/**
 * The performance covers the newest measured runs. With `known` out of it and `run` beside it, at most one
 * run has to come in, and at most one to go out, whatever number of runs there is.
 */
async function keepPerformance(
  tx: Tx,
  { workspaceId }: Run,
  known: KeptRun | undefined,
): Promise<void> {
  const before = await tx.performance.get(workspaceId);
  let sums = known?.inWindow ? withoutRun(before, known) : before;
  const candidate = await tx.runs.newestOutside(workspaceId);
  if (candidate) sums = await admit(tx, sums, candidate);
  if (sums !== before) await tx.performance.save(workspaceId, sums);
}

async function admit(tx: Tx, sums: Performance, candidate: KeptRun): Promise<Performance> {
  let room = sums;
  if (sums.runs >= WINDOW) {
    const oldest = await tx.runs.oldestInside(candidate.workspaceId);
    if (!oldest || !isNewer(candidate, oldest)) return sums;
    await tx.runs.setInWindow(oldest.id, false);
    room = withoutRun(sums, oldest);
  }
  await tx.runs.setInWindow(candidate.id, true);
  return withRun(room, candidate);
}
