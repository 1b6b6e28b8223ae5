import type { WorkspaceId } from "../ids-domain.ts";
import type { StateVersion } from "../state-version/domain.ts";
import type { WorkspaceState } from "../workspace-state/domain.ts";

/** How long the states of one workspace are retained, as the workspaces service defines it. */
export interface Retention {
  workspaceId: WorkspaceId;
  organizationId: string;
  /** Number of days in the policy in effect; null if no policy deletes states. */
  deleteOlderThanNDays: number | null;
  freeTier: boolean;
}

/** The retention of several workspaces, in one response of the workspaces service. */
export interface RetentionAnswer {
  retentions: readonly Retention[];
  /** The response includes all changes of policies and plans up to this version. */
  version: bigint;
  /** When the call that returned this response started. */
  requestedAt: Date;
}

export const retentionRules = ["policy", "free-tier"] as const;
export type RetentionRule = (typeof retentionRules)[number];

/** Which versions of a workspace are due for deletion: those created before `before`. */
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

/**
 * On the free tier, this number of an organization's newest states is retained regardless of age; specification,
 * "Limits".
 */
export const FREE_TIER_STATES = 100;
const FREE_TIER_MONTHS = 6;
const DAY_MS = 86_400_000;
/**
 * How long a `RetentionAnswer` may be used. A change of a policy is confirmed to the user only after this service has
 * stored the higher retention version, which makes older responses unusable.
 */
const MAX_AGE_MS = 30_000;

/**
 * Returns which versions of a workspace the edition's rules allow the service to delete; undefined if they allow none.
 */
export function dueOf(
  { workspaceId, organizationId, deleteOlderThanNDays: days, freeTier }: Retention,
  rules: RetentionRules,
  now: Date,
): RetentionDue | undefined {
  if (rules.policies && days !== null && days > 0) {
    // Not before 1970, because a policy may name more days than have passed since then.
    const before = new Date(Math.max(0, now.getTime() - days * DAY_MS));
    return { workspaceId, organizationId, rule: "policy", before };
  }
  if (rules.freeTier && freeTier) {
    const before = monthsBefore(now, FREE_TIER_MONTHS);
    return { workspaceId, organizationId, rule: "free-tier", before };
  }
  return undefined;
}

/** Returns the same day of an earlier month, or that month's last day if the month is shorter. In UTC. */
function monthsBefore(now: Date, months: number): Date {
  const earlier = new Date(now);
  earlier.setUTCMonth(now.getUTCMonth() - months);
  if (earlier.getUTCDate() !== now.getUTCDate()) earlier.setUTCDate(0);
  return earlier;
}

/**
 * Returns whether the response may still be used. `storedVersion` is the retention version in this service's database.
 */
export const isCurrentAnswer = (
  { version, requestedAt }: RetentionAnswer,
  storedVersion: bigint,
  now: Date,
): boolean => version >= storedVersion && now.getTime() - requestedAt.getTime() < MAX_AGE_MS;

/** Why a version is retained although it was due. */
export const retainedReasons = [
  "dropped",
  "notOlderThanCurrent",
  "noContents",
  "young",
  "shared",
  "amongLast",
] as const;
export type RetainedReason = (typeof retainedReasons)[number];

/** A version and its workspace's state. The transaction has locked both rows. */
interface DueVersion {
  workspaceState: WorkspaceState;
  version: Pick<StateVersion, "position" | "status" | "createdAt">;
}

/** Properties of other versions on which the decision depends. */
interface OtherVersions {
  /** Whether a later copy, made by a rollback, refers to the same blob. */
  shared: boolean;
  /**
   * Creation time of the oldest of the organization's newest `FREE_TIER_STATES` states; undefined if the organization
   * has fewer.
   */
  startOfLast: Date | undefined;
}

/**
 * Returns why a version must be retained; undefined if it may be deleted. The caller must have locked both rows.
 *
 * Only versions older than the current one are deleted. The current version, versions that an unlock may still make
 * current, and versions that await content are therefore always retained.
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
