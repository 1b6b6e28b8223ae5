import { notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, WorkspaceId } from "../ids-domain.ts";

/** The kinds of retention policy: delete backing data after a number of days, or never delete it. */
const dataRetentionKinds = ["delete-older", "dont-delete"] as const;
type DataRetentionKind = (typeof dataRetentionKinds)[number];

/**
 * A retention policy, which the state service applies. It belongs to a workspace, to an organization or, if both ids
 * are null, to the installation.
 */
export class DataRetentionPolicy {
  declare id: DataRetentionPolicyId;
  declare organizationId: OrganizationId | null;
  declare workspaceId: WorkspaceId | null;
  declare kind: DataRetentionKind;
  /**
   * Set only if the kind is `delete-older`. A policy of that kind has this number of days,
   * `stateVersionsDeleteAfterNDays` or both.
   */
  declare deleteOlderThanNDays: number | null;
  /** Applies to state versions instead of `deleteOlderThanNDays`. */
  declare stateVersionsDeleteAfterNDays: number | null;
  declare revision: bigint;
}

/** The values of a policy's document. */
export type DataRetentionPolicyView = Pick<
  DataRetentionPolicy,
  "id" | "kind" | "deleteOlderThanNDays" | "stateVersionsDeleteAfterNDays"
>;

/** A policy with its owner: a workspace, an organization or, if both are null, the installation. */
export interface OwnedDataRetentionPolicy extends DataRetentionPolicyView {
  workspaceId: WorkspaceId | null;
  organizationName: string | null;
}

/** The owner of a policy; `site` is the whole installation. */
export type DataRetentionOwner =
  | { organizationId: OrganizationId }
  | { workspaceId: WorkspaceId }
  | "site";

/** The retention that applies to a workspace: from its own policy, its organization's or the installation's. */
export interface WorkspaceRetention {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  plan: string;
  /** Null if no policy applies, or if the policy that applies deletes nothing. */
  deleteOlderThanNDays: number | null;
}

export interface DataRetentionInput {
  kind: string;
  /** If undefined, the stored number does not change. */
  deleteOlderThanNDays: number | undefined;
  /** Null removes the stored number. If undefined, it does not change. */
  stateVersionsDeleteAfterNDays: number | null | undefined;
}

/** Creates a policy; the caller must set its kind. */
export const newDataRetentionPolicy = (
  id: DataRetentionPolicyId,
  owner: DataRetentionOwner,
  now: Date,
): DataRetentionPolicy =>
  newRow(DataRetentionPolicy, {
    id,
    organizationId: owner !== "site" && "organizationId" in owner ? owner.organizationId : null,
    workspaceId: owner !== "site" && "workspaceId" in owner ? owner.workspaceId : null,
    kind: "dont-delete",
    deleteOlderThanNDays: null,
    stateVersionsDeleteAfterNDays: null,
    revision: nextVersion(0n, now),
  });

const DAYS = "deleteOlderThanNDays";
const STATE_VERSION_DAYS = "stateVersionsDeleteAfterNDays";

/** Sets the policy's kind and numbers of days, and adds violated rules to `problems`. */
export function applyDataRetention(
  policy: DataRetentionPolicy,
  { kind, ...input }: DataRetentionInput,
  { problems, now }: { problems: Problems; now: Date },
): void {
  const known = dataRetentionKinds.find((one) => one === kind);
  if (!known) {
    problems.add("kind", "Type is invalid");
    return;
  }
  const days = input.deleteOlderThanNDays ?? policy.deleteOlderThanNDays;
  const stateVersionDays =
    input.stateVersionsDeleteAfterNDays === undefined
      ? policy.stateVersionsDeleteAfterNDays
      : input.stateVersionsDeleteAfterNDays;
  if (known === "delete-older") {
    if (days === null && stateVersionDays === null) {
      problems.add(DAYS, "Delete older than n days is required");
    }
    if (days !== null && days < 1) problems.add(DAYS, "Delete older than n days must be above 0");
    if (stateVersionDays !== null && stateVersionDays < 1) {
      problems.add(STATE_VERSION_DAYS, "State versions delete after n days must be above 0");
    }
  }
  policy.kind = known;
  policy.deleteOlderThanNDays = known === "delete-older" ? days : null;
  policy.stateVersionsDeleteAfterNDays = known === "delete-older" ? stateVersionDays : null;
  policy.revision = nextVersion(policy.revision, now);
}

export const dataRetentionPolicyNotFound = () => notFound("data retention policy");

export type DataRetentionPolicyId = `drp-${string}`;
