import type { App } from "../app.ts";
import { noteActivity } from "../auto-destroy/domain.ts";
import { reportedByOther, reportedElsewhere } from "../errors-domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import {
  isNewer,
  newPerformance,
  type Performance,
  WINDOW,
  withoutRun,
  withRun,
} from "../performance/domain.ts";
import { isEnded, type Run } from "../run/domain.ts";
import { type KeptRun, runEnded } from "../run/store.ts";

/**
 * Stores a runner's report of a run, unless a newer report is stored. Locks the workspace's row, so that values derived
 * from its runs are updated by one report at a time. Throws `notFound` if the workspace does not exist, and a conflict
 * if the run was reported for another workspace or by another runner.
 */
export const reportRun = (app: Pick<App, "transaction" | "now">, run: Run): Promise<void> =>
  app.transaction(async (tx) => {
    const { workspaceId } = run;
    const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
    const known = await tx.runs.find(run.id);
    if (known) requireSameReporter(known, run);
    if (known && known.revision >= run.revision) return;
    await tx.runs.save(run);
    await tx.audit({
      organization: workspace.organizationId,
      action: "run.report",
      resource: { type: "run", id: run.id },
    });
    await tx.runs.showOn(workspaceId);
    await keepPerformance(tx, run, known);
    if (isActivity(run)) noteActivity(workspace, app.now());
    if (isEnded(run.status) && !(known && isEnded(known.status))) {
      await tx.record(runEnded(run, workspace.organizationId));
    }
  });

interface Reported {
  id: string;
  workspaceId: WorkspaceId;
  runner: string;
}

/** Throws a conflict if the first report of this id came from another runner or was for another workspace. */
export function requireSameReporter(
  known: Omit<Reported, "id">,
  { id, workspaceId, runner }: Reported,
): void {
  if (known.workspaceId !== workspaceId) throw reportedElsewhere(id);
  if (known.runner !== runner) throw reportedByOther(id);
}

/**
 * Returns whether a run postpones the workspace's scheduled destruction. A destroy run does not postpone it, because it
 * can be the scheduled run itself.
 */
const isActivity = ({ isDestroy }: Run): boolean => !isDestroy;

/**
 * Updates the workspace's performance, which covers the newest measured runs. The new report, which replaces `known`,
 * adds at most one run to them and removes at most one. The cost therefore does not depend on the number of runs.
 */
async function keepPerformance(
  tx: Tx,
  { workspaceId }: Run,
  known: KeptRun | undefined,
): Promise<void> {
  const kept = (await tx.performance.find({ workspaceId })) ?? newPerformance(workspaceId);
  let sums: Performance = known?.inWindow ? withoutRun(kept, known) : kept;
  const candidate = await tx.runs.newestOutside(workspaceId);
  if (candidate) sums = await admit(tx, sums, candidate);
  if (sums !== kept) tx.performance.save(Object.assign(kept, sums));
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
