import { EntitySchema } from "@mikro-orm/core";
import { bigint, integer, optional, text, timestamptz } from "@statehouse/postgres/columns";
import { shownColumns } from "../state-version-document/store.ts";
import { StateVersion } from "./domain.ts";

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
