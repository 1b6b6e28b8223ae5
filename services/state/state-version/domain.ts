import { newRow } from "@statehouse/postgres/new-row";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { touch, type WorkspaceState } from "../workspace-state/domain.ts";

export const stateVersionStatuses = [
  "pending",
  "finalized",
  "discarded",
  "backing_data_soft_deleted",
  "backing_data_permanently_deleted",
] as const;
export type StateVersionStatus = (typeof stateVersionStatuses)[number];

/** One version of a workspace's state, without its contents. */
export class StateVersion {
  declare id: StateVersionId;
  declare workspaceId: WorkspaceId;
  /** Order of creation within the workspace. */
  declare position: bigint;
  declare lockEpoch: bigint;
  declare serial: bigint;
  /** md5 of the raw state, in lower-case hex. */
  declare md5: string;
  /** Empty if the client did not send a lineage. */
  declare lineage: string;
  declare status: StateVersionStatus;
  /** True for a snapshot, which does not become current before the workspace is unlocked. */
  declare intermediate: boolean;
  declare createdAt: Date;
  declare createdByType: string;
  declare createdById: string;
  /**
   * The token with which the create request, or its latest repeat, was sent. Null for a rollback's copy, which accepts
   * no uploads.
   */
  declare createdTokenId: string | null;
  declare runId: string | null;
  /** When the upload URLs expire. A version that is still pending at this time is discarded. */
  declare expiresAt: Date;
  declare blobKey: string | null;
  declare size: bigint | null;
  declare sha256: string | null;
  declare jsonBlobKey: string | null;
  declare jsonSize: bigint | null;
  declare jsonSha256: string | null;
  /** Whether the create request contained the outputs. If it did, extraction does not store outputs. */
  declare outputsGiven: boolean;
  declare resourcesProcessed: boolean;
  declare resourceCount: number;
  /** Number of billable resources; null until extraction, and after a failed extraction. */
  declare billableResourceCount: number | null;
  declare formatVersion: number | null;
  declare engineVersion: string | null;
  /**
   * When extraction is due; null if no extraction is scheduled. While a worker holds a lease, this is the end of the
   * lease.
   */
  declare extractionDueAt: Date | null;
  declare extractionAttempts: number;
  /** Why the content could not be read; its resources are then unknown. */
  declare extractionError: string | null;
  /** The version that a rollback copied to create this one. */
  declare rollbackVersionId: StateVersionId | null;
  /** When the contents were soft-deleted. They can be restored for a limited time after that. */
  declare softDeletedAt: Date | null;
}

/** The values of a pending version without contents that are the same for every new version. */
const withoutContents = {
  status: "pending",
  blobKey: null,
  size: null,
  sha256: null,
  jsonBlobKey: null,
  jsonSize: null,
  jsonSha256: null,
  resourcesProcessed: false,
  resourceCount: 0,
  billableResourceCount: null,
  formatVersion: null,
  engineVersion: null,
  extractionDueAt: null,
  extractionAttempts: 0,
  extractionError: null,
  rollbackVersionId: null,
  softDeletedAt: null,
} as const;

/** Creates a pending version without contents. */
export const newStateVersion = (fields: Omit<StateVersion, keyof typeof withoutContents>) =>
  newRow(StateVersion, { ...fields, ...withoutContents });

/** The principal that created a version, and the token that it used. */
export type Creator = Pick<StateVersion, "createdByType" | "createdById" | "createdTokenId">;

/** The raw state and the JSON form of a version; a content that is not stored has null in each of its fields. */
export type VersionContents = Pick<
  StateVersion,
  "blobKey" | "size" | "sha256" | "jsonBlobKey" | "jsonSize" | "jsonSha256"
>;

/** A state version in the form that its document shows, with the placement of its workspace. */
export type StateVersionView = Omit<
  StateVersion,
  | "position"
  | "lockEpoch"
  | "createdTokenId"
  | "resourceCount"
  | "extractionDueAt"
  | "extractionAttempts"
  | "extractionError"
  | "softDeletedAt"
> & {
  organizationId: string;
  projectId: string;
  /** The versions of the workspace that were created directly before and after this one. */
  previousVersionId: StateVersionId | null;
  nextVersionId: StateVersionId | null;
  /** Whether the organization's plan bills by usage. */
  usageBasedBilling: boolean;
  /**
   * The beginning of the list of the version's resources, as JSON; `resourceEntries` is the length of the whole list.
   */
  resourcesJson: string;
  resourceEntries: number;
  omitsResources: boolean;
  modulesJson: string;
  providersJson: string;
};

/** A version without the values that only its document shows. */
export type StoredVersion = VersionContents &
  Creator &
  Pick<StateVersion, "id" | "workspaceId" | "md5" | "status" | "expiresAt"> &
  Pick<StateVersionView, "organizationId" | "projectId" | "outputsGiven" | "resourcesProcessed">;

/** Removes the results of extraction from the view of a version whose contents are deleted. */
export const withoutExtraction = (version: StateVersionView): StateVersionView => ({
  ...version,
  resourcesJson: "[]",
  resourceEntries: 0,
  omitsResources: false,
  modulesJson: "{}",
  providersJson: "{}",
});

/**
 * Returns whether the outputs of the version are known because they were sent with the create request or have been
 * extracted.
 */
export const outputsAreKnown = (
  version: Pick<StateVersion, "outputsGiven" | "resourcesProcessed">,
): boolean => version.outputsGiven || version.resourcesProcessed;

/** Returns the version that was created last. */
export const newestOf = (versions: readonly StateVersion[]): StateVersion | undefined =>
  versions.reduce<StateVersion | undefined>(
    (newest, version) => (newest && newest.position > version.position ? newest : version),
    undefined,
  );

/** Returns whether the version awaits its upload and the upload URL has not expired. */
export const awaitsContent = (
  version: Pick<StateVersion, "status" | "expiresAt">,
  now: Date,
): boolean => version.status === "pending" && version.expiresAt > now;

/** Returns whether the version's contents are deleted, softly or permanently. */
export const isDeleted = ({ status }: Pick<StateVersion, "status">): boolean =>
  status === "backing_data_soft_deleted" || status === "backing_data_permanently_deleted";

export function discard(version: StateVersion): void {
  version.status = "discarded";
}

/**
 * Removes the JSON form of a discarded version. Returns the key of its blob, or null if the version has no JSON form.
 */
export function removeJson(version: StateVersion): string | null {
  const { jsonBlobKey } = version;
  version.jsonBlobKey = null;
  version.jsonSize = null;
  version.jsonSha256 = null;
  return jsonBlobKey;
}

/**
 * Makes a finalized version the workspace's current one, unless a version that was created later is current already:
 * uploads can end in any order. Returns whether it became current.
 */
export function makeCurrent(
  workspaceState: WorkspaceState,
  version: StateVersion,
  now: Date,
): boolean {
  if (version.position <= workspaceState.currentPosition) return false;
  workspaceState.currentVersionId = version.id;
  workspaceState.currentPosition = version.position;
  version.intermediate = false;
  if (version.resourcesProcessed) {
    workspaceState.resourceCount = version.resourceCount;
    // The version was extracted before it was current. Only the extraction of the current version replaces the
    // workspace's resources, so the version is extracted again.
    version.extractionDueAt = now;
    version.extractionAttempts = 0;
  }
  touch(workspaceState, now);
  return true;
}

/**
 * Records the version's creation time as the time of the workspace's latest change, unless an equal or later time is
 * recorded. Returns whether the recorded time changed.
 */
export function noteLatestChange(workspaceState: WorkspaceState, version: StateVersion): boolean {
  if (workspaceState.latestChangeAt && workspaceState.latestChangeAt >= version.createdAt)
    return false;
  workspaceState.latestChangeAt = version.createdAt;
  return true;
}
