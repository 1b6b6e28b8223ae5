import type { StateSummary } from "./state-summary.ts";
import type { Placement } from "./workspace-placement.ts";

/** A workspace as state knows it. */
export interface StateRecord {
  workspaceId: string;
  summary: StateSummary;
  placementVersion: bigint;
  /** A tombstone. */
  dropped: boolean;
}

/** A workspace as its owner knows it; of a deleted one only that it was. */
export type OwnRecord =
  | { deleted: false; placement: Placement; stateRevision: bigint }
  | { deleted: true };

/** What is mended: state, or its summary here, has not heard of something that the other side is sure of. */
export type Healing = "summary" | "placement" | "deletion";

/**
 * What is only reported, because one side must have been restored from a backup, and nobody but an
 * operator can say which of the two is right. Nothing is ever deleted on such grounds.
 */
export const discrepancies = {
  unknownHere: "state knows a workspace that was never deleted and is not here",
  unknownToState: "state has nothing of a workspace whose state it has told of",
  droppedAtState: "state has dropped a workspace that is here",
  stateBehind: "state knows less of a workspace than it has told",
  placementAhead: "state knows a later move of a workspace than its owner",
} as const;

export type Discrepancy = keyof typeof discrepancies;

/** What differs about one workspace that state knows; almost always nothing. */
export function differences(
  own: OwnRecord | undefined,
  state: StateRecord,
): { heal: Healing[]; report: Discrepancy[] } {
  // After a tombstone there is nothing that either side could still tell the other.
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
