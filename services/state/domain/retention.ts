import type { WorkspaceId } from "./ids.ts";
import type { StateVersion } from "./state-version.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** How long the states of one workspace are retained, from the service workspaces. */
export interface Retention {
  workspaceId: WorkspaceId;
  organizationId: string;
  /** From the policy in effect; null if states are never deleted. */
  deleteOlderThanNDays: number | null;
  freeTier: boolean;
}

/** The retention of several workspaces, read at one time. */
export interface RetentionAnswer {
  retentions: readonly Retention[];
  /** Version of the last change of a policy or plan that this answer includes. */
  version: bigint;
  /** Start of the call that returned this answer. */
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

/** Specification, "Limits": this number of an organization's newest states is retained regardless of age. */
export const FREE_TIER_STATES = 100;
const FREE_TIER_MONTHS = 6;
const DAY_MS = 86_400_000;
/**
 * How long a retention answer is used. A change of a policy is acknowledged only after the version stored here was
 * raised.
 */
const MAX_AGE_MS = 30_000;

/** Which versions of a workspace the edition's rules allow to delete; undefined if none. */
export function dueOf(
  { workspaceId, organizationId, deleteOlderThanNDays: days, freeTier }: Retention,
  rules: RetentionRules,
  now: Date,
): RetentionDue | undefined {
  if (rules.policies && days !== null && days > 0) {
    // Upper limit, because a policy may name more days than have passed since 1970.
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

/** Whether this answer is still current. `storedVersion` is the version of the last acknowledged change. */
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

/** Facts about other versions that the decision depends on. */
interface OtherVersions {
  /** A later copy made by a rollback refers to the same blob. */
  shared: boolean;
  /** Creation time of the oldest of the organization's last states; undefined if it has fewer. */
  startOfLast: Date | undefined;
}

/**
 * Decides by locked rows. Returns undefined if the version may be deleted. Only versions older than the current one
 * are ever deleted. This retains the current version, those that an unlock may still make current, and those that
 * await content.
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
