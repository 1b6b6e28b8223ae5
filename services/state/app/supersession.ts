import { discard, type StateVersion } from "../domain/state-version.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { emptyDiscarded } from "./discarded-version.ts";

/** Discards what still waits for its bytes: a newer version is about to be made. */
export async function supersedePending(
  app: App,
  tx: Transaction,
  workspace: WorkspaceState,
  known: readonly StateVersion[],
  now: Date,
): Promise<void> {
  for (const superseded of known.filter(({ status }) => status === "pending")) {
    discard(superseded);
    touch(workspace, now);
    await emptyDiscarded(app, tx, workspace, [superseded]);
  }
}
