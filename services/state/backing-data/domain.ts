import { currentVersionDeletion, transitionNotAllowed } from "../errors-domain.ts";
import type { StateVersion, StateVersionStatus } from "../state-version/domain.ts";
import type { WorkspaceState } from "../workspace-state/domain.ts";

interface Transition {
  from: StateVersionStatus;
  to: StateVersionStatus;
  /** Whether the action is allowed on the current version, and on snapshots that an unlock may make current. */
  ofCurrent: boolean;
}

/** The actions on a version's backing data; specification, "State version status". */
const backingDataActions = {
  softDelete: {
    from: "finalized",
    to: "backing_data_soft_deleted",
    ofCurrent: false,
  },
  restore: {
    from: "backing_data_soft_deleted",
    to: "finalized",
    ofCurrent: true,
  },
  permanentlyDelete: {
    from: "backing_data_soft_deleted",
    to: "backing_data_permanently_deleted",
    ofCurrent: false,
  },
} as const satisfies Record<string, Transition>;

export type BackingDataAction = keyof typeof backingDataActions;

/**
 * Returns whether the version is the current one, or a newer snapshot, which an unlock may make current. In a dropped
 * workspace no version is or becomes current.
 */
const isCurrent = (
  { currentVersionId, currentPosition, droppedAt }: WorkspaceState,
  version: StateVersion,
): boolean =>
  currentVersionId === version.id ||
  (version.intermediate && version.position > currentPosition && droppedAt === null);

/**
 * Changes the status of the version. Throws 400 if the specification's table contains no transition for this action
 * from this status, and if the action is not allowed on the current version.
 */
export function changeBackingData(
  action: BackingDataAction,
  {
    workspaceState,
    version,
    now,
  }: { workspaceState: WorkspaceState; version: StateVersion; now: Date },
): void {
  const { from, to, ofCurrent }: Transition = backingDataActions[action];
  if (version.status !== from) throw transitionNotAllowed(version.status, to);
  if (!ofCurrent && isCurrent(workspaceState, version)) throw currentVersionDeletion(to);
  version.status = to;
  version.softDeletedAt = action === "softDelete" ? now : null;
}
