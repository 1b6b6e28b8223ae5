import type { StateSummary } from "./state-summary.ts";
import type { Placement } from "./workspace-placement.ts";

/** A workspace in the records of state. */
export interface StateRecord {
  workspaceId: string;
  summary: StateSummary;
  placementVersion: bigint;
  /** Marks a tombstone. */
  dropped: boolean;
}

/** A workspace in the records of its owner; of a deleted one only its id. */
export type OwnRecord =
  | { deleted: false; placement: Placement; stateRevision: bigint }
  | { deleted: true };

/**
 * Differences that are repaired: state, or its summary here, has not received a change that the other side has
 * confirmed.
 */
export type Healing = "summary" | "placement" | "deletion";

/**
 * Differences that are only reported: one side must have been restored from a backup, and only an operator can decide
 * which side is right. Nothing is ever deleted because of them.
 */
export const discrepancies = {
  unknownHere: "state has a workspace that was never deleted and is missing here",
  unknownToState: "state has nothing of a workspace whose state it has reported",
  droppedAtState: "state has dropped a workspace that is here",
  stateBehind: "state has less of a workspace than it has reported",
  placementAhead: "state has a later move of a workspace than its owner",
} as const;

export type Discrepancy = keyof typeof discrepancies;

/** The differences of one workspace that state knows; almost always none. */
export function differences(
  own: OwnRecord | undefined,
  state: StateRecord,
): { heal: Healing[]; report: Discrepancy[] } {
  // After a tombstone neither side sends further changes.
  if (!own) return { heal: [], report: state.dropped ? [] : ["unknownHere"] };
  if (own.deleted) return { heal: state.dropped ? [] : ["deletion"], report: [] };
  if (state.dropped) return { heal: [], report: ["droppedAtState"] };
  const heal: Healing[] = [];
  const report: Discrepancy[] = [];
  if (state.summary.revision > own.stateRevision) heal.push("summary");
  if (state.summary.revision < own.stateRevision) report.push("stateBehind");
  if (state.placementVersion < own.placement.version) heal.push("placement");
  if (state.placementVersion > own.placement.version) report.push("placementAhead");
  return { heal, report };
}
