import type { App } from "../app.ts";
import { reportedByOther } from "../errors-domain.ts";
import type { RunId, WorkspaceId } from "../ids-domain.ts";
import { touch } from "../revision-domain.ts";
import { isEnded, runAlreadyEnded, runOfOtherWorkspace } from "../run/domain.ts";
import type { RunTimeouts } from "../run/timeout-domain.ts";
import { workspaceLocked } from "../workspace/events-store.ts";
import { getLock, releaseSealed, withHolderName } from "../workspace-lock/app.ts";
import { epochToUnlock, isHeldBy, takeLock } from "../workspace-lock/domain.ts";

interface RunLock {
  workspaceId: WorkspaceId;
  runId: RunId;
  /** The name of the calling runner. */
  runner: string;
}

const holderOf = (runId: RunId) => ({ type: "run", id: runId }) as const;

/**
 * Locks the workspace for a run. The run need not have been reported yet. A second call for the run that holds the lock
 * changes nothing. Returns how long the phases of the run may take. Throws `notFound`, or one of the
 * conflicts `workspace_locked`, `run_ended`, `reported_by_other` and `run_of_other_workspace`.
 */
export const lockAsRun = (
  app: App,
  { workspaceId, runId, runner, reason }: RunLock & { reason: string },
): Promise<RunTimeouts> =>
  withHolderName(app, () =>
    app.transaction(async (tx) => {
      const { planTimeout, applyTimeout } = await tx.generalSettings.get({ id: true });
      const timeouts = { planTimeout, applyTimeout };
      const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
      const run = await tx.runs.find(runId);
      if (run && run.workspaceId !== workspaceId) throw runOfOtherWorkspace();
      if (run && run.runner !== runner) throw reportedByOther(runId);
      if (run && isEnded(run.status)) throw runAlreadyEnded();
      if (isHeldBy(workspace, holderOf(runId))) return timeouts;
      const lock = takeLock(workspace, holderOf(runId), reason, app.now());
      touch(workspace, app.now());
      await tx.record(workspaceLocked(workspace, lock));
      tx.workspaces.save(workspace);
      return timeouts;
    }),
  );

/**
 * Releases the run's lock, even if the run has ended. The lock's epoch is sealed in the state service first. Throws a
 * conflict if the run does not hold the lock or was reported by another runner, and `unavailable` while a state version
 * of the epoch is pending.
 */
export const unlockAsRun = (app: App, { workspaceId, runId, runner }: RunLock): Promise<void> =>
  withHolderName(app, async () => {
    const reported = await app.reads.runs.reporterOf(runId);
    if (reported && reported.runner !== runner) throw reportedByOther(runId);
    const epoch = epochToUnlock(await getLock(app, workspaceId), holderOf(runId));
    const summary = await app.state.sealLock(workspaceId, epoch, { discardPending: false });
    await app.transaction(async (tx) => {
      const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
      await releaseSealed(app, tx, workspace, { epoch, summary, forced: false });
    });
  });
