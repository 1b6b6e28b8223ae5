import { stateVersionDiscarded } from "../domain/events.ts";
import { discard, type StateVersion } from "../domain/state-version.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";

/** Discards what still waits for its bytes: a newer version is about to be made. */
export async function supersedePending(
  tx: Transaction,
  workspace: WorkspaceState,
  known: readonly StateVersion[],
  now: Date,
): Promise<void> {
  for (const superseded of known.filter(({ status }) => status === "pending")) {
    discard(superseded);
    touch(workspace, now);
    await tx.record(stateVersionDiscarded(workspace, superseded));
  }
}
