import type { WorkspaceId } from "./ids.ts";
import type { StateVersion } from "./state-version.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** How long the states of one workspace are retained, from the service workspaces. */
export interface Retention {
  workspaceId: WorkspaceId;
  organizationId: string;
  /** From the policy in effect; null: states are never deleted. */
  deleteOlderThanNDays: number | null;
  freeTier: boolean;
}

/** The retention of several workspaces at one time. */
export interface RetentionAnswer {
  retentions: readonly Retention[];
  /** Version of the last change of a policy or plan that it includes. */
  version: bigint;
  /** Start of the call. */
  requestedAt: Date;
}

export type RetentionRule = "policy" | "free-tier";

/** The versions of a workspace that may be deleted: those created before `before`. */
export interface RetentionDue {
  workspaceId: WorkspaceId;
  organizationId: string;
  rule: RetentionRule;
  before: Date;
}

/** The retention rules of an edition. */
export interface RetentionRules {
  policies: boolean;
  freeTier: boolean;
}

/** Specification, "Limits": this many of an organization's last states are retained at any age. */
export const FREE_TIER_STATES = 100;
const FREE_TIER_MONTHS = 6;
const DAY_MS = 86_400_000;
/** How long an answer is used. A change of a policy also raises the version stored here before it is acknowledged. */
const MAX_AGE_MS = 30_000;

/** What the rules of the edition allow to delete of a workspace; undefined: nothing. */
export function dueOf(
  { workspaceId, organizationId, deleteOlderThanNDays: days, freeTier }: Retention,
  rules: RetentionRules,
  now: Date,
): RetentionDue | undefined {
  if (rules.policies && days !== null && days > 0) {
    // A policy may name more days than have passed since 1970.
    const before = new Date(Math.max(0, now.getTime() - days * DAY_MS));
    return { workspaceId, organizationId, rule: "policy", before };
  }
  if (rules.freeTier && freeTier) {
    const before = monthsBefore(now, FREE_TIER_MONTHS);
    return { workspaceId, organizationId, rule: "free-tier", before };
  }
  return undefined;
}

/** The same day of an earlier month, or the last day of a shorter one. UTC. */
function monthsBefore(now: Date, months: number): Date {
  const earlier = new Date(now);
  earlier.setUTCMonth(now.getUTCMonth() - months);
  if (earlier.getUTCDate() !== now.getUTCDate()) earlier.setUTCDate(0);
  return earlier;
}

/** Whether this answer is still current. `storedVersion`: of the last acknowledged change. */
export const isCurrentAnswer = (
  { version, requestedAt }: RetentionAnswer,
  storedVersion: bigint,
  now: Date,
): boolean => version >= storedVersion && now.getTime() - requestedAt.getTime() < MAX_AGE_MS;

/** Why a version that was due is retained. */
export type RetainedReason =
  | "dropped"
  | "notOlderThanCurrent"
  | "noContents"
  | "young"
  | "shared"
  | "amongLast";

/** A version and its workspace's state, both locked. */
interface DueVersion {
  workspaceState: WorkspaceState;
  version: Pick<StateVersion, "position" | "status" | "createdAt">;
}

/** What the decision needs to know of other versions. */
interface OtherVersions {
  /** A later copy of it, made by a rollback, has the same blob. */
  shared: boolean;
  /** Creation time of the oldest of the organization's last states; undefined: it has fewer. */
  startOfLast: Date | undefined;
}

/**
 * Decides by locked rows; undefined: the version may be deleted. Only versions older than the current one are ever
 * deleted. This retains the current one, those that an unlock may still make current, and those that await content.
 */
export function reasonToRetain(
  { workspaceState, version }: DueVersion,
  due: RetentionDue,
  { shared, startOfLast }: OtherVersions,
): RetainedReason | undefined {
  if (workspaceState.droppedAt) return "dropped";
  if (version.position >= workspaceState.currentPosition) return "notOlderThanCurrent";
  if (version.status !== "finalized" && version.status !== "backing_data_soft_deleted") {
    return "noContents";
  }
  if (version.createdAt >= due.before) return "young";
  const isAmongLast = !startOfLast || version.createdAt >= startOfLast;
  if (due.rule === "free-tier" && isAmongLast) return "amongLast";
  if (shared) return "shared";
  return undefined;
}
