import { nextVersion } from "@statehouse/events/version";
import type { StateSummary } from "../state-summary/domain.ts";
import type { Placement } from "../workspace-placement/domain.ts";

/** The state service's record of a workspace. */
export interface StateRecord {
  workspaceId: string;
  summary: StateSummary;
  placementVersion: bigint;
  /** True if the state service has dropped the workspace and keeps only a tombstone. */
  dropped: boolean;
}

/** This service's record of a workspace. For a deleted workspace it contains only the id. */
export type OwnRecord =
  | { deleted: false; placement: Placement; stateRevision: bigint }
  | { deleted: true };

/**
 * Differences that are repaired:
 * - `summary`: this service has an older state summary than the state service.
 * - `placement`: the state service has an older placement than this service.
 * - `deletion`: the state service has not dropped a workspace that is deleted in this service.
 * - `placementAhead`: the state service has a placement that this service has never assigned or has lost in a restore.
 * - `summaryAhead`: this service has a state summary with a revision that the state service cannot have assigned.
 */
export const healings = [
  "summary",
  "placement",
  "deletion",
  "placementAhead",
  "summaryAhead",
] as const;
export type Healing = (typeof healings)[number];

/**
 * Differences that are only reported: one of the two services was restored from a backup, and only an operator can
 * decide which one is right. Nothing is deleted because of them.
 */
export const discrepancies = {
  unknownHere:
    "the state service has a workspace for which this service has no row and no record of a deletion",
  unknownToState: "the state service has no row for a workspace whose state it has reported",
  droppedAtState: "the state service has dropped a workspace that exists in this service",
  stateBehind:
    "the state service has an older state of a workspace than the one it reported to this service",
} as const;

export type Discrepancy = keyof typeof discrepancies;

/**
 * Revisions are derived from the clock. A revision that is ahead of the clock by more than this time was never assigned
 * by the state service.
 */
const CLOCK_SKEW_MS = 3_600_000;

/**
 * Returns the differences between this service's and the state service's record of a workspace; usually there are none.
 */
export function differences(
  own: OwnRecord | undefined,
  state: StateRecord,
  now: Date,
): { heal: Healing[]; report: Discrepancy[] } {
  // If a workspace was deleted in this service or dropped in the state service, its other values are not compared.
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
