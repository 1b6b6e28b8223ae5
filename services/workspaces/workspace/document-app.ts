import { type Action, allowed, type Caller, grantsOf } from "@statehouse/authorization";
import { isTransient } from "@statehouse/errors";
import { type WorkspaceWithActions, withWorkspaceActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { targetOf } from "../caller-app.ts";
import type { Holder } from "../ids-domain.ts";
import type { WorkspaceView } from "./domain.ts";

/** The values of a workspace's document. */
export type WorkspaceDocument = WorkspaceWithActions & {
  /**
   * True if the holder of the lock may neither write state under it nor release it. Null if the workspace is not
   * locked, for callers who are not allowed to force-unlock it, and if the access service does not respond.
   */
  lockedStale: boolean | null;
};

/** The actions that use a lock. A lock is stale if its holder is allowed none of them. */
const USES_OF_LOCK: readonly Action[] = ["state:write", "workspace:lock"];

/** Returns the document of a workspace. Must not be called in a transaction, because it calls the access service. */
export async function workspaceDocument(
  app: App,
  caller: Caller,
  view: WorkspaceView,
): Promise<WorkspaceDocument> {
  const workspace = withWorkspaceActions(app, caller)(view);
  const [lockedStale = null] = await staleLocks(app, caller, [workspace]);
  return { ...workspace, lockedStale };
}

/** Returns the documents of workspaces. Calls the access service at most once. */
export async function workspaceDocuments(
  app: App,
  caller: Caller,
  views: readonly WorkspaceView[],
): Promise<WorkspaceDocument[]> {
  const workspaces = views.map(withWorkspaceActions(app, caller));
  const stale = await staleLocks(app, caller, workspaces);
  return workspaces.map((workspace, index) => ({
    ...workspace,
    lockedStale: stale[index] ?? null,
  }));
}

/** Returns `lockedStale` of each workspace. */
async function staleLocks(
  app: App,
  caller: Caller,
  workspaces: readonly WorkspaceWithActions[],
): Promise<(boolean | null)[]> {
  const stale: (boolean | null)[] = workspaces.map(() => null);
  const others: { index: number; holder: Holder; workspace: WorkspaceWithActions }[] = [];
  for (const [index, workspace] of workspaces.entries()) {
    const { lock, allowedActions } = workspace;
    if (!lock || !allowedActions.includes("workspace:force-unlock")) continue;
    if (isOwn(caller, lock)) {
      const target = targetOf(workspace);
      stale[index] = !USES_OF_LOCK.some((action) => allowed(grantsOf(caller), action, target));
    } else others.push({ index, holder: lock.holder, workspace });
  }
  if (others.length === 0) return stale;
  try {
    const useful = await app.access.batchCheckActions(
      others.map(({ holder, workspace }) => ({
        principal: holder,
        target: targetOf(workspace),
        actions: USES_OF_LOCK,
      })),
    );
    for (const [position, { index }] of others.entries()) stale[index] = !useful[position];
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  return stale;
}

const isOwn = (caller: Caller, lock: { holder: Holder }): boolean => {
  const { type, id } = grantsOf(caller).principal;
  return lock.holder.type === type && lock.holder.id === id;
};
