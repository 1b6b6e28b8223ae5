import { stateVersionPending } from "./errors.ts";
import { awaitsContent, discard, makeCurrent, type StateVersion } from "./state-version.ts";
import { sealEpoch, touch, type WorkspaceState } from "./workspace-state.ts";

export interface Sealing {
  epoch: bigint;
  /** Force-unlock: what is pending is given up. Otherwise it stands in the way. */
  discardPending: boolean;
  now: Date;
}

/** What sealing did, for the events. */
export interface Sealed {
  discarded: StateVersion[];
  promoted: StateVersion | undefined;
}

/**
 * Ends a lock epoch: nothing is written under it any more; the newest finalized intermediate version
 * becomes current. Repeating it changes nothing. Throws `stateVersionPending`.
 *
 * `unsettled`: pending versions, and finalized intermediate ones newer than the current.
 */
export function sealLock(
  workspace: WorkspaceState,
  unsettled: readonly StateVersion[],
  { epoch, discardPending, now }: Sealing,
): Sealed {
  const within = unsettled.filter((version) => version.lockEpoch <= epoch);
  const pending = within.filter((version) => version.status === "pending");
  if (!discardPending && pending.some((version) => awaitsContent(version, now))) {
    throw stateVersionPending();
  }
  for (const version of pending) discard(version);
  if (pending.length > 0) touch(workspace, now);
  sealEpoch(workspace, epoch);

  const newest = within
    .filter((version) => version.status === "finalized" && version.intermediate)
    .toSorted((a, b) => (a.position > b.position ? -1 : 1))
    .find((version) => makeCurrent(workspace, version, now));
  return { discarded: pending, promoted: newest };
}
