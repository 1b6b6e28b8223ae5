import { nextVersion } from "@statehouse/events/version";
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

/** A workspace in the records of this service; a deleted workspace has only its id. */
export type OwnRecord =
  | { deleted: false; placement: Placement; stateRevision: bigint }
  | { deleted: true };

/**
 * Differences that are repaired. `summary`, `placement` and `deletion`: state, or its summary here, has not received a
 * change that the other side has confirmed. `placementAhead`: state has a placement that its owner has never assigned,
 * or no longer has after a restore. `summaryAhead`: the summary here has a revision that state cannot have assigned.
 */
export type Healing = "summary" | "placement" | "deletion" | "placementAhead" | "summaryAhead";

/**
 * Differences that are only reported: one side was restored from a backup, and only an operator can decide which side
 * is right. Nothing is deleted because of them.
 */
export const discrepancies = {
  unknownHere: "state has a workspace that is missing here and was never deleted",
  unknownToState: "state has no row for a workspace whose state it has reported",
  droppedAtState: "state has dropped a workspace that exists here",
  stateBehind: "state has an older state of a workspace than it has reported",
} as const;

export type Discrepancy = keyof typeof discrepancies;

/** Revisions follow the clock: one that is later by this much was never assigned. */
const CLOCK_SKEW_MS = 3_600_000;

/** The differences of one workspace that state knows; almost always there are none. */
export function differences(
  own: OwnRecord | undefined,
  state: StateRecord,
  now: Date,
): { heal: Healing[]; report: Discrepancy[] } {
  // After a tombstone neither side sends further changes.
  if (!own) return { heal: [], report: state.dropped ? [] : ["unknownHere"] };
  if (own.deleted) return { heal: state.dropped ? [] : ["deletion"], report: [] };
  if (state.dropped) return { heal: [], report: ["droppedAtState"] };
  const heal: Healing[] = [];
  const report: Discrepancy[] = [];
  if (state.summary.revision > own.stateRevision) heal.push("summary");
  if (state.summary.revision < own.stateRevision) {
    const latest = nextVersion(0n, new Date(now.getTime() + CLOCK_SKEW_MS));
    if (own.stateRevision > latest) heal.push("summaryAhead");
    else report.push("stateBehind");
  }
  if (state.placementVersion < own.placement.version) heal.push("placement");
  if (state.placementVersion > own.placement.version) heal.push("placementAhead");
  return { heal, report };
}
