import { stateVersionDiscarded } from "../domain/events.ts";
import { type StateVersion, withoutJson } from "../domain/state-version.ts";
import type { WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";

/**
 * Takes from versions that the transaction discards what came before their state: a JSON form, outputs given at
 * creation. They are parts of a state that was never kept, and no policy would ever let go of them. Tells of each.
 */
export async function emptyDiscarded(
  app: App,
  tx: Transaction,
  workspace: WorkspaceState,
  discarded: readonly StateVersion[],
): Promise<void> {
  if (discarded.length === 0) return;
  await tx.removeOutputs(discarded.map(({ id }) => id));
  const keys = discarded.map(withoutJson).filter((key) => key !== null);
  if (keys.length > 0) {
    await tx.releaseBlobs(keys, app.now());
    tx.afterCommit(app.wakes.deletion.wake);
  }
  if (workspace.droppedAt) return;
  for (const version of discarded) await tx.record(stateVersionDiscarded(workspace, version));
}
