import type { App } from "../app.ts";
import { noteActivity } from "../auto-destroy/domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { applyStateSummary, type StateSummary, setStateSummary } from "./domain.ts";

/**
 * Reads the current state summaries of these workspaces from the state service, and stores those that are newer than
 * the stored ones. Most summaries are not newer, because unlocking a workspace stores its summary.
 */
export async function refreshSummaries(app: App, ids: readonly WorkspaceId[]): Promise<void> {
  const known = new Map<string, WorkspaceId>(ids.map((id) => [id, id]));
  const found = (await app.state.listWorkspaces({ workspaceIds: ids })).flatMap((state) => {
    const id = known.get(state.workspaceId);
    return id && !state.dropped ? [{ id, summary: state.summary }] : [];
  });
  const outdated = new Set(
    await app.reads.workspaces.listWithOlderState(
      found.map(({ id, summary: { revision } }) => ({ id, revision })),
    ),
  );
  for (const { id, summary } of found) {
    if (outdated.has(id)) await applySummary(app, id, summary);
  }
}

/**
 * Stores a workspace's state summary, unless a newer one is stored or the workspace is deleted. A new state counts as
 * an activity of the workspace, which postpones its scheduled destruction.
 */
export const applySummary = (
  app: Pick<App, "transaction" | "now">,
  workspaceId: WorkspaceId,
  summary: StateSummary,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.findForUpdate({ id: workspaceId });
    if (!workspace || summary.revision <= workspace.stateRevision) return;
    if (applyStateSummary(workspace, summary)) noteActivity(workspace, app.now());
    tx.workspaces.save(workspace);
  });

/**
 * Replaces the stored state summary with an older one, but only if the stored revision still equals `replaced`, a
 * revision that the state service cannot have assigned.
 */
export const replaceSummary = (
  app: Pick<App, "transaction">,
  workspaceId: WorkspaceId,
  summary: StateSummary,
  replaced: bigint,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.findForUpdate({ id: workspaceId });
    if (workspace?.stateRevision !== replaced) return;
    setStateSummary(workspace, summary);
    tx.workspaces.save(workspace);
  });
