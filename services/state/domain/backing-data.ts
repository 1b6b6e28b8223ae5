import { currentVersionDeletion, transitionNotAllowed } from "./errors.ts";
import type { BackingDataEvent } from "./events.ts";
import type { StateVersion, StateVersionStatus } from "./state-version.ts";
import type { WorkspaceState } from "./workspace-state.ts";

interface Transition {
  from: StateVersionStatus;
  to: StateVersionStatus;
  /** Whether the current version may make it. */
  ofCurrent: boolean;
  event: BackingDataEvent;
}

/** The actions on a version's contents; specification, "State version status". */
export const backingDataActions = {
  softDelete: {
    from: "finalized",
    to: "backing_data_soft_deleted",
    ofCurrent: false,
    event: "stateVersionSoftDeleted",
  },
  restore: {
    from: "backing_data_soft_deleted",
    to: "finalized",
    ofCurrent: true,
    event: "stateVersionRestored",
  },
  permanentlyDelete: {
    from: "backing_data_soft_deleted",
    to: "backing_data_permanently_deleted",
    ofCurrent: false,
    event: "stateVersionPermanentlyDeleted",
  },
} as const satisfies Record<string, Transition>;

export type BackingDataAction = keyof typeof backingDataActions;

/** The current version, or the snapshot that becomes it with the next unlock. */
const isCurrent = (workspace: WorkspaceState, version: StateVersion): boolean =>
  workspace.currentVersionId === version.id ||
  (version.intermediate && version.position > workspace.currentPosition);

/** Changes the status as the action says. Throws 400 where the specification's table has no such row. */
export function changeBackingData(
  action: BackingDataAction,
  { workspace, version, now }: { workspace: WorkspaceState; version: StateVersion; now: Date },
): void {
  const { from, to, ofCurrent }: Transition = backingDataActions[action];
  if (version.status !== from) throw transitionNotAllowed(version.status, to);
  if (!ofCurrent && isCurrent(workspace, version)) throw currentVersionDeletion(to);
  version.status = to;
  version.softDeletedAt = action === "softDelete" ? now : null;
}
