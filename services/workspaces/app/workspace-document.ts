import { allowed, type Caller, type Grants, grantsOf } from "@statehouse/authorization";
import { isTransient } from "@statehouse/errors";
import { forEachConcurrently } from "@statehouse/runtime";
import type { Holder } from "../domain/ids.ts";
import type { WorkspaceView } from "../domain/workspace.ts";
import { type WorkspaceWithActions, withWorkspaceActions } from "./allowed-actions.ts";
import type { App } from "./app.ts";
import { targetOf } from "./caller.ts";

/** The values of a workspace's document. */
export type WorkspaceDocument = WorkspaceWithActions & {
  /**
   * True if the holder of the lock may neither write state under it nor release it. Null if the workspace is not
   * locked, for callers who may not force-unlock the workspace, and if the access service does not respond.
   */
  lockStale: boolean | null;
};

/** How many holders are looked up at the same time. */
const HOLDERS_AT_ONCE = 8;

/** Returns the document of a workspace. Calls the access service, so it is not called in a transaction. */
export async function workspaceDocument(
  app: App,
  caller: Caller,
  view: WorkspaceView,
): Promise<WorkspaceDocument> {
  const workspace = withWorkspaceActions(app, caller)(view);
  const holders = await grantsOfHolders(app, caller, [workspace]);
  return withStaleLock(caller, holders, workspace);
}

/** Returns the documents of workspaces. Calls the access service once for each holder of their locks. */
export async function workspaceDocuments(
  app: App,
  caller: Caller,
  views: readonly WorkspaceView[],
): Promise<WorkspaceDocument[]> {
  const workspaces = views.map(withWorkspaceActions(app, caller));
  const holders = await grantsOfHolders(app, caller, workspaces);
  return workspaces.map((workspace) => withStaleLock(caller, holders, workspace));
}

/**
 * The grants of holders by `keyOf`: null for a holder that does not exist, undefined for a holder that was not looked
 * up.
 */
type GrantsOfHolders = ReadonlyMap<string, Grants | null>;

const keyOf = ({ type, id }: Holder) => `${type} ${id}`;

async function grantsOfHolders(
  app: App,
  caller: Caller,
  workspaces: readonly WorkspaceWithActions[],
): Promise<GrantsOfHolders> {
  const wanted = new Map<string, Holder>();
  for (const workspace of workspaces) {
    const { lock } = workspace;
    if (lock && seesStaleLock(workspace) && !isOwn(caller, lock)) {
      wanted.set(keyOf(lock.holder), lock.holder);
    }
  }
  const found = new Map<string, Grants | null>();
  await forEachConcurrently(HOLDERS_AT_ONCE, [...wanted], async ([key, holder]) => {
    try {
      found.set(key, await app.access.grantsOf(holder));
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
  });
  return found;
}

function withStaleLock(
  caller: Caller,
  holders: GrantsOfHolders,
  workspace: WorkspaceWithActions,
): WorkspaceDocument {
  const { lock } = workspace;
  if (!lock || !seesStaleLock(workspace)) return { ...workspace, lockStale: null };
  const grants = isOwn(caller, lock) ? grantsOf(caller) : holders.get(keyOf(lock.holder));
  if (grants === undefined) return { ...workspace, lockStale: null };
  const target = targetOf(workspace);
  const useful =
    grants !== null &&
    (allowed(grants, "state:write", target) || allowed(grants, "workspace:lock", target));
  return { ...workspace, lockStale: !useful };
}

const seesStaleLock = ({ allowedActions }: WorkspaceWithActions) =>
  allowedActions.includes("workspace:force-unlock");

const isOwn = (caller: Caller, lock: { holder: Holder }): boolean => {
  const { type, id } = grantsOf(caller).principal;
  return lock.holder.type === type && lock.holder.id === id;
};
