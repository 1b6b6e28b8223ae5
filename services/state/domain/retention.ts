import type { WorkspaceId } from "./ids.ts";
import type { StateVersion } from "./state-version.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** What workspaces says of how long a workspace's states are kept. */
export interface Retention {
  workspaceId: WorkspaceId;
  organizationId: string;
  /** Of the policy that counts for it; null: for ever. */
  deleteOlderThanNDays: number | null;
  freeTier: boolean;
}

/** Answers of one moment. */
export interface RetentionAnswer {
  retentions: readonly Retention[];
  /** Of the last change of a policy or plan that they know of. */
  version: bigint;
  askedAt: Date;
}

export type RetentionRule = "policy" | "free-tier";

/** What of a workspace may go: versions that were created before this. */
export interface RetentionDue {
  workspaceId: WorkspaceId;
  organizationId: string;
  rule: RetentionRule;
  before: Date;
}

/** Which rules an edition has. */
export interface RetentionRules {
  policies: boolean;
  freeTier: boolean;
}

/** Specification, "Limits": so many of an organization's last states are kept, however old. */
export const FREE_TIER_STATES = 100;
const FREE_TIER_MONTHS = 6;
const DAY_MS = 86_400_000;
/** For so long an answer is believed; a change meets state itself, before it is acknowledged. */
const BELIEVED_MS = 30_000;

/** What the rules of the edition let go of a workspace; undefined: nothing. */
export function dueOf(
  { workspaceId, organizationId, deleteOlderThanNDays: days, freeTier }: Retention,
  rules: RetentionRules,
  now: Date,
): RetentionDue | undefined {
  if (rules.policies && days !== null && days > 0) {
    // A policy may say more days than there have been.
    const before = new Date(Math.max(0, now.getTime() - days * DAY_MS));
    return { workspaceId, organizationId, rule: "policy", before };
  }
  if (rules.freeTier && freeTier) {
    const before = monthsBefore(now, FREE_TIER_MONTHS);
    return { workspaceId, organizationId, rule: "free-tier", before };
  }
  return undefined;
}

/** The same day of an earlier month, or its last one where it is shorter. UTC. */
function monthsBefore(now: Date, months: number): Date {
  const earlier = new Date(now);
  earlier.setUTCMonth(now.getUTCMonth() - months);
  if (earlier.getUTCDate() !== now.getUTCDate()) earlier.setUTCDate(0);
  return earlier;
}

/** Whether nothing that was told since, or may have been, says otherwise. */
export const isBelieved = (
  { version, askedAt }: RetentionAnswer,
  told: bigint,
  now: Date,
): boolean => version >= told && now.getTime() - askedAt.getTime() < BELIEVED_MS;

/** Why a version stays that was found due, or undefined when it goes. */
export type Kept =
  | "dropped"
  | "notOlderThanCurrent"
  | "noContents"
  | "young"
  | "shared"
  | "amongLast";

/** A version and its workspace, both locked. */
interface DueVersion {
  workspace: WorkspaceState;
  version: Pick<StateVersion, "position" | "status" | "createdAt">;
}

/** What other versions have to say. */
interface Neighbourhood {
  /** A later copy of it, made by a rollback, has the same blob. */
  shared: boolean;
  /** Of the last states of its organization the first was created then; undefined: there are not so many. */
  lastBegin: Date | undefined;
}

/**
 * Decides by the rows as they are locked. Only what is older than the current version ever goes: that one is
 * kept, and so is whatever an unlock may still make current, and what waits for its bytes.
 */
export function keptBecause(
  { workspace, version }: DueVersion,
  due: RetentionDue,
  { shared, lastBegin }: Neighbourhood,
): Kept | undefined {
  if (workspace.droppedAt) return "dropped";
  if (version.position >= workspace.currentPosition) return "notOlderThanCurrent";
  if (version.status !== "finalized" && version.status !== "backing_data_soft_deleted") {
    return "noContents";
  }
  if (version.createdAt >= due.before) return "young";
  if (due.rule === "free-tier" && (!lastBegin || version.createdAt >= lastBegin))
    return "amongLast";
  if (shared) return "shared";
  return undefined;
}
