import type { StateVersionId, WorkspaceId } from "./ids.ts";
import type { WorkspaceState } from "./workspace-state.ts";
import { touch } from "./workspace-state.ts";

export const stateVersionStatuses = [
  "pending",
  "finalized",
  "discarded",
  "backing_data_soft_deleted",
  "backing_data_permanently_deleted",
] as const;
export type StateVersionStatus = (typeof stateVersionStatuses)[number];

/** One instance of a workspace's state, without the bytes. */
export class StateVersion {
  id: StateVersionId;
  workspaceId: WorkspaceId;
  /** Order of creation within the workspace. */
  position: bigint;
  lockEpoch: bigint;
  serial: bigint;
  /** Of the raw state, lower-case hex. */
  md5: string;
  /** Empty when the client gave none. */
  lineage: string;
  status: StateVersionStatus = "pending";
  /** A snapshot that is not to be current before the workspace is unlocked. */
  intermediate: boolean;
  createdAt: Date;
  createdByType: string;
  createdById: string;
  runId: string | null;
  /** When its upload URLs end, and, while pending, it does. */
  expiresAt: Date;
  blobKey: string | null = null;
  size: bigint | null = null;
  sha256: string | null = null;
  jsonBlobKey: string | null = null;
  jsonSize: bigint | null = null;
  jsonSha256: string | null = null;
  /** The create request carried the outputs; extraction leaves them alone. */
  outputsGiven: boolean;
  resourcesProcessed = false;
  resourceCount = 0;
  /** Of its resources those that count where usage is billed; null until, and unless, they are known. */
  billableResourceCount: number | null = null;
  formatVersion: number | null = null;
  engineVersion: string | null = null;
  /** When extraction is to be tried; null: not, or no more. Later while a lease is held. */
  extractionDueAt: Date | null = null;
  extractionAttempts = 0;
  /** Why the content could not be read; its resources are then unknown. */
  extractionError: string | null = null;
  /** Whose copy it is. */
  rollbackVersionId: StateVersionId | null = null;
  /** While its contents can be restored: since when. */
  softDeletedAt: Date | null = null;

  constructor(init: StateVersionInit) {
    this.id = init.id;
    this.workspaceId = init.workspaceId;
    this.position = init.position;
    this.lockEpoch = init.lockEpoch;
    this.serial = init.serial;
    this.md5 = init.md5;
    this.lineage = init.lineage;
    this.intermediate = init.intermediate;
    this.createdAt = init.createdAt;
    this.createdByType = init.createdByType;
    this.createdById = init.createdById;
    this.runId = init.runId;
    this.expiresAt = init.expiresAt;
    this.outputsGiven = init.outputsGiven;
  }
}

export type StateVersionInit = Pick<
  StateVersion,
  | "id"
  | "workspaceId"
  | "position"
  | "lockEpoch"
  | "serial"
  | "md5"
  | "lineage"
  | "intermediate"
  | "createdAt"
  | "createdByType"
  | "createdById"
  | "runId"
  | "expiresAt"
  | "outputsGiven"
>;

/** The last by creation order. */
export const newestOf = (versions: readonly StateVersion[]): StateVersion | undefined =>
  versions.reduce<StateVersion | undefined>(
    (newest, version) => (newest && newest.position > version.position ? newest : version),
    undefined,
  );

/** Waits for its bytes and still may get them. */
export const awaitsContent = (
  version: Pick<StateVersion, "status" | "expiresAt">,
  now: Date,
): boolean => version.status === "pending" && version.expiresAt > now;

/** Its contents cannot be read, or are gone. */
export const isDeleted = ({ status }: Pick<StateVersion, "status">): boolean =>
  status === "backing_data_soft_deleted" || status === "backing_data_permanently_deleted";

export function discard(version: StateVersion): void {
  version.status = "discarded";
}

/** Takes its JSON form from a version that is discarded; answers with the blob that it was in, if it had come. */
export function withoutJson(version: StateVersion): string | null {
  const { jsonBlobKey } = version;
  version.jsonBlobKey = null;
  version.jsonSize = null;
  version.jsonSha256 = null;
  return jsonBlobKey;
}

/**
 * Makes a finalized version the workspace's current one, unless a newer by creation order already is:
 * uploads may end in any order. Says whether it did.
 */
export function makeCurrent(workspace: WorkspaceState, version: StateVersion, now: Date): boolean {
  if (version.position <= workspace.currentPosition) return false;
  workspace.currentVersionId = version.id;
  workspace.currentPosition = version.position;
  version.intermediate = false;
  if (version.resourcesProcessed) {
    workspace.resourceCount = version.resourceCount;
    // Read once more: the workspace's resources are those of its current version.
    version.extractionDueAt = now;
    version.extractionAttempts = 0;
  }
  touch(workspace, now);
  return true;
}

/** Remembers the creation time of the workspace's latest version. Says whether it changed. */
export function noteLatestChange(workspace: WorkspaceState, version: StateVersion): boolean {
  if (workspace.latestChangeAt && workspace.latestChangeAt >= version.createdAt) return false;
  workspace.latestChangeAt = version.createdAt;
  return true;
}
