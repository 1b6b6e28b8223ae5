import { EntitySchema } from "@mikro-orm/core";
import {
  bigint,
  boolean,
  integer,
  optional,
  primaryKey,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import { Blob } from "../domain/blob.ts";
import { StateVersion } from "../domain/state-version.ts";
import { WorkspaceState } from "../domain/workspace-state.ts";

export const workspaceStateSchema = new EntitySchema({
  class: WorkspaceState,
  tableName: "workspace_states",
  properties: {
    workspaceId: primaryKey,
    organizationId: optional(text),
    projectId: optional(text),
    placementVersion: bigint,
    sealedEpoch: bigint,
    currentVersionId: optional(text),
    currentPosition: bigint,
    resourceCount: integer,
    latestChangeAt: optional(timestamptz),
    revision: bigint,
    droppedAt: optional(timestamptz),
    purgedAt: optional(timestamptz),
  },
});

/** Without resources, modules and providers: they may be large, and no rule uses them. */
export const stateVersionSchema = new EntitySchema({
  class: StateVersion,
  tableName: "state_versions",
  properties: {
    id: primaryKey,
    workspaceId: text,
    position: bigint,
    lockEpoch: bigint,
    serial: bigint,
    md5: text,
    lineage: text,
    status: text,
    intermediate: boolean,
    createdAt: timestamptz,
    createdByType: text,
    createdById: text,
    runId: optional(text),
    expiresAt: timestamptz,
    blobKey: optional(text),
    size: optional(bigint),
    sha256: optional(text),
    jsonBlobKey: optional(text),
    jsonSize: optional(bigint),
    jsonSha256: optional(text),
    outputsGiven: boolean,
    resourcesProcessed: boolean,
    resourceCount: integer,
    billableResourceCount: optional(integer),
    formatVersion: optional(integer),
    engineVersion: optional(text),
    extractionDueAt: optional(timestamptz),
    extractionAttempts: integer,
    extractionError: optional(text),
    rollbackVersionId: optional(text),
    softDeletedAt: optional(timestamptz),
  },
});

export const blobSchema = new EntitySchema({
  class: Blob,
  tableName: "blobs",
  properties: {
    key: primaryKey,
    workspaceId: text,
    size: bigint,
    sha256: text,
    references: integer,
    createdAt: timestamptz,
  },
});
