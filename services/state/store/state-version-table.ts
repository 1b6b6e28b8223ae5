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
import { StateVersion } from "../domain/state-version.ts";

/**
 * The columns of a version, except resources, modules and providers, which can be large and which no domain rule uses.
 */
const versionColumns = {
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
  createdTokenId: optional(text),
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
};

export const stateVersionSchema = new EntitySchema({
  class: StateVersion,
  tableName: "state_versions",
  properties: versionColumns,
});

/** SQL: ids of the newest version, the newest version that is not discarded, and all pending versions. */
export const latestVersions = `
  (select id from state_versions where workspace_id = $1 order by position desc limit 1)
  union
  (select id from state_versions where workspace_id = $1 and status <> 'discarded'
   order by position desc limit 1)
  union
  select id from state_versions where workspace_id = $1 and status = 'pending'`;
