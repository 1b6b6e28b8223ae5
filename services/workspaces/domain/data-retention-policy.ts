import { notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { OrganizationId, WorkspaceId } from "./ids.ts";

/** How long backing data is kept: it is deleted after a number of days, or kept permanently. */
const dataRetentionKinds = ["delete-older", "dont-delete"] as const;
type DataRetentionKind = (typeof dataRetentionKinds)[number];

/**
 * A record that state applies. It belongs to a workspace, to an organization or, with neither, to the installation.
 */
export class DataRetentionPolicy {
  declare id: DataRetentionPolicyId;
  declare organizationId: OrganizationId | null;
  declare workspaceId: WorkspaceId | null;
  declare kind: DataRetentionKind;
  /** Set if and only if the kind is `delete-older`. */
  declare deleteOlderThanNDays: number | null;
  declare revision: bigint;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof DataRetentionPolicy]: DataRetentionPolicy[Name] };

/** A policy as its document shows it. */
export type DataRetentionPolicyView = Pick<
  DataRetentionPolicy,
  "id" | "kind" | "deleteOlderThanNDays"
>;

/** What the policy belongs to. */
export type DataRetentionOwner =
  | { organizationId: OrganizationId }
  | { workspaceId: WorkspaceId }
  | "site";

/** The retention in effect for a workspace. */
export interface WorkspaceRetention {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  plan: string;
  /** Null if nothing is ever deleted. */
  deleteOlderThanNDays: number | null;
}

export interface DataRetentionInput {
  kind: string;
  deleteOlderThanNDays: number | undefined;
}

/** A policy without values. */
export const newDataRetentionPolicy = (
  id: DataRetentionPolicyId,
  owner: DataRetentionOwner,
  now: Date,
): DataRetentionPolicy =>
  new DataRetentionPolicy({
    id,
    organizationId: owner !== "site" && "organizationId" in owner ? owner.organizationId : null,
    workspaceId: owner !== "site" && "workspaceId" in owner ? owner.workspaceId : null,
    kind: "dont-delete",
    deleteOlderThanNDays: null,
    revision: nextVersion(0n, now),
  });

const DAYS = "deleteOlderThanNDays";

/** Sets the kind of the policy and adds violated rules to `problems`. */
export function applyDataRetention(
  policy: DataRetentionPolicy,
  { kind, deleteOlderThanNDays: days }: DataRetentionInput,
  { problems, now }: { problems: Problems; now: Date },
): void {
  const known = dataRetentionKinds.find((one) => one === kind);
  if (!known) {
    problems.add("kind", "Type is invalid");
    return;
  }
  const kept = policy.kind === "delete-older" ? policy.deleteOlderThanNDays : null;
  const wanted = days ?? kept;
  if (known === "delete-older") {
    if (wanted === null) problems.add(DAYS, "Delete older than n days is required");
    else if (wanted < 1) problems.add(DAYS, "Delete older than n days must be above 0");
  }
  policy.kind = known;
  policy.deleteOlderThanNDays = known === "delete-older" ? wanted : null;
  policy.revision = nextVersion(policy.revision, now);
}

export const dataRetentionPolicySet = (policy: DataRetentionPolicy) =>
  ({ type: "dataRetentionPolicySet", revision: policy.revision, policy }) as const;

export const dataRetentionPolicyDeleted = (policy: DataRetentionPolicy) =>
  ({ type: "dataRetentionPolicyDeleted", revision: policy.revision, policy }) as const;

export type DataRetentionPolicyEvent = ReturnType<
  typeof dataRetentionPolicySet | typeof dataRetentionPolicyDeleted
>;

export const dataRetentionPolicyNotFound = () => notFound("data retention policy");

export type DataRetentionPolicyId = `drp-${string}`;
