import { EntitySchema } from "@mikro-orm/core";
import { Blob } from "../domain/blob.ts";
import { StateVersion } from "../domain/state-version.ts";
import { WorkspaceState } from "../domain/workspace-state.ts";

const text = { type: "text" } as const;
const optionalText = { type: "text", nullable: true } as const;
const bigint = { type: "bigint" } as const;
const optionalBigint = { type: "bigint", nullable: true } as const;
const integer = { type: "integer" } as const;
const boolean = { type: "boolean" } as const;
const time = { type: "datetime", columnType: "timestamptz" } as const;
const optionalTime = { ...time, nullable: true } as const;
const key = { type: "text", primary: true } as const;

export const workspaceStateSchema = new EntitySchema<WorkspaceState>({
  class: WorkspaceState,
  tableName: "workspace_state",
  properties: {
    workspaceId: key,
    organizationId: optionalText,
    projectId: optionalText,
    placementVersion: bigint,
    sealedEpoch: bigint,
    currentVersionId: optionalText,
    currentPosition: bigint,
    resourceCount: integer,
    latestChangeAt: optionalTime,
    revision: bigint,
    droppedAt: optionalTime,
    collectedAt: optionalTime,
  },
});

/** Without resources, modules and providers: they may be large, and no rule looks at them. */
export const stateVersionSchema = new EntitySchema<StateVersion>({
  class: StateVersion,
  tableName: "state_version",
  properties: {
    id: key,
    workspaceId: text,
    position: bigint,
    lockEpoch: bigint,
    serial: bigint,
    md5: text,
    lineage: text,
    status: text,
    intermediate: boolean,
    createdAt: time,
    createdByType: text,
    createdById: text,
    runId: optionalText,
    expiresAt: time,
    blobKey: optionalText,
    size: optionalBigint,
    sha256: optionalText,
    jsonBlobKey: optionalText,
    jsonSize: optionalBigint,
    jsonSha256: optionalText,
    outputsGiven: boolean,
    resourcesProcessed: boolean,
    resourceCount: integer,
    billableResourceCount: { type: "integer", nullable: true },
    formatVersion: { type: "integer", nullable: true },
    engineVersion: optionalText,
    extractionDueAt: optionalTime,
    extractionAttempts: integer,
    extractionError: optionalText,
    rollbackVersionId: optionalText,
    softDeletedAt: optionalTime,
  },
});

export const blobSchema = new EntitySchema<Blob>({
  class: Blob,
  tableName: "blob",
  properties: {
    key,
    workspaceId: text,
    size: bigint,
    sha256: text,
    references: integer,
    createdAt: time,
  },
});

export const entities = [workspaceStateSchema, stateVersionSchema, blobSchema];
