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
import { StateVersion } from "./domain.ts";

/** Columns whose values are part of a version's document. */
export const shownColumns = {
  id: primaryKey,
  workspaceId: text,
  createdAt: timestamptz,
  createdByType: text,
  createdById: text,
  serial: bigint,
  lineage: text,
  md5: text,
  size: optional(bigint),
  sha256: optional(text),
  blobKey: optional(text),
  jsonBlobKey: optional(text),
  jsonSize: optional(bigint),
  jsonSha256: optional(text),
  status: text,
  intermediate: boolean,
  outputsGiven: boolean,
  resourcesProcessed: boolean,
  formatVersion: optional(integer),
  engineVersion: optional(text),
  billableResourceCount: optional(integer),
  runId: optional(text),
  rollbackVersionId: optional(text),
  expiresAt: timestamptz,
};

/** Omits resources, modules and providers, which can be large and which no domain rule uses. */
export const stateVersionSchema = new EntitySchema({
  class: StateVersion,
  tableName: "state_versions",
  properties: {
    ...shownColumns,
    position: bigint,
    lockEpoch: bigint,
    createdTokenId: optional(text),
    resourceCount: integer,
    extractionDueAt: optional(timestamptz),
    extractionAttempts: integer,
    extractionError: optional(text),
    softDeletedAt: optional(timestamptz),
  },
});

/** SQL: ids of the newest version, the newest version that is not discarded, and all pending versions. */
export const latestVersions = `
  (select id from state_versions where workspace_id = $1 order by position desc limit 1)
  union
  (select id from state_versions where workspace_id = $1 and status <> 'discarded'
   order by position desc limit 1)
  union
  select id from state_versions where workspace_id = $1 and status = 'pending'`;
