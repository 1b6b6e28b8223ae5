import type { StateResource } from "../domain/extraction.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersionStatus, StateVersionView } from "../domain/state-version.ts";
import { usageBasedBilling } from "./organization-billing.ts";

export interface StateVersionRow {
  id: StateVersionId;
  workspace_id: WorkspaceId;
  organization_id: string | null;
  project_id: string | null;
  created_at: Date;
  created_by_type: string;
  created_by_id: string;
  serial: number;
  lineage: string;
  md5: string;
  size: number | null;
  sha256: string | null;
  blob_key: string | null;
  json_blob_key: string | null;
  json_size: number | null;
  json_sha256: string | null;
  status: StateVersionStatus;
  intermediate: boolean;
  outputs_given: boolean;
  resources_processed: boolean;
  format_version: number | null;
  engine_version: string | null;
  billable_resource_count: number | null;
  usage_based_billing: boolean;
  run_id: string | null;
  rollback_version_id: StateVersionId | null;
  previous_version_id: StateVersionId | null;
  next_version_id: StateVersionId | null;
  expires_at: Date;
  /** The first resources of the version. */
  resources: StateResource[];
  /** Number of all resources of the version. */
  resource_entries: number;
  modules_json: string;
  providers_json: string;
}

/** Largest number of resources in the document of one version, and largest length of its modules and providers. */
const MAX_RESOURCES = 20_000;
const MAX_TEXT = 1_048_576;
/**
 * Largest number of resources for each version in a list. Lists omit modules and providers that are longer than
 * `MAX_LISTED_TEXT`.
 */
const MAX_LISTED_RESOURCES = 100;
const MAX_LISTED_TEXT = 65_536;

/** SQL: the first `limit` resources, and the number of all resources. */
const firstResources = (limit: number) =>
  `jsonb_path_query_array(version.resources, '$[0 to ${limit - 1}]') as resources,
   jsonb_array_length(version.resources) as resource_entries`;

/** SQL: a JSON column as text; empty if it is longer. */
const textUpTo = (limit: number, column: string) =>
  `case when length(version.${column}::text) <= ${limit} then version.${column}::text
   else '' end as ${column}_json`;

/** SQL: the id of the version that was created directly before or after. */
const adjacent = (operator: "<" | ">", direction: "asc" | "desc") =>
  // index: state_versions_list
  `(select other.id from state_versions other
    where other.workspace_id = version.workspace_id and other.position ${operator} version.position
    order by other.position ${direction} limit 1)`;

/**
 * SQL: the columns of a `StateVersionRow`, without the ids of its workspace, project and organization. The query must
 * name its tables `version` and `workspace`.
 */
const columns = `version.id, version.created_at, version.created_by_type,
  version.created_by_id, version.serial, version.lineage, version.md5, version.size, version.sha256,
  version.blob_key, version.json_blob_key, version.json_size, version.json_sha256, version.status,
  version.intermediate, version.outputs_given, version.resources_processed, version.format_version,
  version.engine_version, version.billable_resource_count, version.run_id,
  version.rollback_version_id, version.expires_at,
  ${adjacent("<", "desc")} as previous_version_id, ${adjacent(">", "asc")} as next_version_id,
  ${usageBasedBilling("workspace.organization_id")} as usage_based_billing`;

export const stateVersionColumns = `${columns}, ${firstResources(MAX_RESOURCES)},
  ${textUpTo(MAX_TEXT, "modules")}, ${textUpTo(MAX_TEXT, "providers")}`;

/** SQL: like `stateVersionColumns`, but with the smaller limits of lists. */
export const listedVersionColumns = `${columns}, ${firstResources(MAX_LISTED_RESOURCES)},
  ${textUpTo(MAX_LISTED_TEXT, "modules")}, ${textUpTo(MAX_LISTED_TEXT, "providers")}`;

const bigintOf = (value: number | null): bigint | null => (value === null ? null : BigInt(value));

export const viewOf = (row: StateVersionRow): StateVersionView => ({
  id: row.id,
  workspaceId: row.workspace_id,
  organizationId: row.organization_id ?? "",
  projectId: row.project_id ?? "",
  createdAt: row.created_at,
  createdByType: row.created_by_type,
  createdById: row.created_by_id,
  serial: BigInt(row.serial),
  lineage: row.lineage,
  md5: row.md5,
  size: bigintOf(row.size),
  sha256: row.sha256,
  blobKey: row.blob_key,
  jsonBlobKey: row.json_blob_key,
  jsonSize: bigintOf(row.json_size),
  jsonSha256: row.json_sha256,
  status: row.status,
  intermediate: row.intermediate,
  outputsGiven: row.outputs_given,
  resourcesProcessed: row.resources_processed,
  formatVersion: row.format_version,
  engineVersion: row.engine_version,
  billableResourceCount: row.billable_resource_count,
  usageBasedBilling: row.usage_based_billing,
  runId: row.run_id,
  rollbackVersionId: row.rollback_version_id,
  previousVersionId: row.previous_version_id,
  nextVersionId: row.next_version_id,
  expiresAt: row.expires_at,
  resources: row.resources,
  resourceEntries: row.resource_entries,
  modulesJson: row.modules_json,
  providersJson: row.providers_json,
});
