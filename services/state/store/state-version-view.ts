import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { MAX_LISTED_RESOURCES, MAX_LISTED_TEXT } from "../domain/packed-extraction.ts";
import type { StateVersionStatus, StateVersionView } from "../domain/state-version.ts";
import { usageBasedBilling } from "./organization-billing.ts";

/** The JSON object in the column `version` of a `StateVersionRow`. */
interface VersionJson {
  id: StateVersionId;
  workspace_id: WorkspaceId;
  organization_id: string | null;
  project_id: string | null;
  created_at: string;
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
  expires_at: string;
  /** Number of all resources of the version. */
  resource_entries: number;
}

interface Contents {
  /** The first resources of the version, as a JSON array. */
  resources_json: string;
  modules_json: string;
  providers_json: string;
}

export interface StateVersionRow extends Contents {
  version: VersionJson;
}

/** Largest number of resources in the document of one version. */
const MAX_RESOURCES = 20_000;
/** The document of one version omits its modules or providers if their JSON text has more characters than this. */
const MAX_TEXT = 1_048_576;

/** SQL: the first `limit` resources. */
const firstResources = (limit: number) =>
  `jsonb_path_query_array(version.resources, '$[0 to ${limit - 1}]')::text`;

/** SQL: a JSON column as text; an empty text if it is longer than `limit`. */
const textUpTo = (limit: number, column: string) =>
  `case when length(version.${column}::text) <= ${limit} then version.${column}::text else '' end`;

/** SQL: the number of all resources; 0 before extraction. */
const resourceEntries = "coalesce(version.resource_entries, 0) as resource_entries";

/**
 * SQL: the resources, modules and providers of a version in a list. The complete columns are read only for versions
 * with few resources.
 */
const listedContents = `coalesce(version.listed_resources, version.resources::text) as resources_json,
  coalesce(version.listed_modules, ${textUpTo(MAX_LISTED_TEXT, "modules")}) as modules_json,
  coalesce(version.listed_providers, ${textUpTo(MAX_LISTED_TEXT, "providers")}) as providers_json`;

/** SQL: the id of the version of the same workspace that was created directly before or after `version`. */
const adjacent = (operator: "<" | ">", direction: "asc" | "desc") =>
  // index: state_versions_position
  `(select other.id from state_versions other
    where other.workspace_id = version.workspace_id and other.position ${operator} version.position
    order by other.position ${direction} limit 1)`;

/** SQL: the columns of `state_versions version` that documents show, except resources, modules and providers. */
const scalars = `version.id, version.created_at, version.created_by_type,
  version.created_by_id, version.serial, version.lineage, version.md5, version.size, version.sha256,
  version.blob_key, version.json_blob_key, version.json_size, version.json_sha256, version.status,
  version.intermediate, version.outputs_given, version.resources_processed, version.format_version,
  version.engine_version, version.billable_resource_count, version.run_id,
  version.rollback_version_id, version.expires_at`;

const previous = adjacent("<", "desc");
const next = adjacent(">", "asc");

/**
 * SQL: all values of a version except resources, modules and providers, as one JSON column (ADR 19). `more` selects
 * further values.
 */
const withoutContents = (more: string) => `(select row_to_json(shown) from (
    select ${scalars}, version.workspace_id, ${resourceEntries}, ${more}) shown) as version`;

const shownVersion =
  withoutContents(`${previous} as previous_version_id, ${next} as next_version_id,
  workspace.organization_id, workspace.project_id,
  ${usageBasedBilling("workspace.organization_id")} as usage_based_billing`);

/**
 * SQL: the columns of a `StateVersionRow`. The query must name its tables `version` and `workspace`. Resources, modules
 * and providers are text columns that are not parsed.
 */
export const stateVersionColumns = `${shownVersion},
  case
    when version.resource_entries <= ${MAX_RESOURCES} then version.resources::text
    else ${firstResources(MAX_RESOURCES)}
  end as resources_json,
  ${textUpTo(MAX_TEXT, "modules")} as modules_json,
  ${textUpTo(MAX_TEXT, "providers")} as providers_json`;

/** SQL: like `stateVersionColumns`, but with the smaller limits of lists. */
export const listedVersionColumns = `${shownVersion}, ${listedContents}`;

/**
 * SQL: a page of the versions of workspace $1, newest first: at most $2 rows, after skipping $3. One JSON column holds
 * all values (ADR 19) except resources, modules and providers, which are text columns that are not parsed. If `status`
 * is an SQL expression, selects only versions with this status.
 */
export function selectListedVersions(status: string | undefined): string {
  // If the list is not filtered by status, the previous and next versions of a row are the adjacent rows of the page.
  // Only the first and last rows of the page need a query for them.
  const within = (side: "lag" | "lead", other: string) =>
    status === undefined ? `coalesce(${side}(version.id) over newest_first, ${other})` : other;
  // index: state_versions_position, state_versions_status
  return `select version.id, version.position,
      ${withoutContents("version.previous_version_id, version.next_version_id")},
      ${listedContents}
    from (
      select version.*, ${within("lead", previous)} as previous_version_id,
        ${within("lag", next)} as next_version_id
      from (
        select * from state_versions version where version.workspace_id = $1
          ${status === undefined ? "" : `and version.status = ${status}`}
        order by version.position desc limit $2 offset $3) version
      window newest_first as (order by version.position desc)) version`;
}

/** The values of a row that are the same for all versions of a workspace. */
type Placement = Pick<VersionJson, "organization_id" | "project_id" | "usage_based_billing">;

/** A row of `selectListedVersions`. */
export interface ListedVersionRow extends Contents {
  id: StateVersionId;
  version: Omit<VersionJson, keyof Placement>;
}

export const listedViewOf = (
  { version, ...contents }: ListedVersionRow,
  { organization_id, project_id, usage_based_billing }: Placement,
): StateVersionView =>
  inListOf({
    ...contents,
    version: { ...version, organization_id, project_id, usage_based_billing },
  });

export const bigintOf = (value: number | null): bigint | null =>
  value === null ? null : BigInt(value);

/** Converts a row, whose query selected at most `limit` resources, to its view. */
export const viewOf = (
  { version, resources_json, modules_json, providers_json }: StateVersionRow,
  limit = MAX_RESOURCES,
): StateVersionView => ({
  id: version.id,
  workspaceId: version.workspace_id,
  organizationId: version.organization_id ?? "",
  projectId: version.project_id ?? "",
  createdAt: new Date(version.created_at),
  createdByType: version.created_by_type,
  createdById: version.created_by_id,
  serial: BigInt(version.serial),
  lineage: version.lineage,
  md5: version.md5,
  size: bigintOf(version.size),
  sha256: version.sha256,
  blobKey: version.blob_key,
  jsonBlobKey: version.json_blob_key,
  jsonSize: bigintOf(version.json_size),
  jsonSha256: version.json_sha256,
  status: version.status,
  intermediate: version.intermediate,
  outputsGiven: version.outputs_given,
  resourcesProcessed: version.resources_processed,
  formatVersion: version.format_version,
  engineVersion: version.engine_version,
  billableResourceCount: version.billable_resource_count,
  usageBasedBilling: version.usage_based_billing,
  runId: version.run_id,
  rollbackVersionId: version.rollback_version_id,
  previousVersionId: version.previous_version_id,
  nextVersionId: version.next_version_id,
  expiresAt: new Date(version.expires_at),
  resourcesJson: resources_json,
  resourceEntries: version.resource_entries,
  omitsResources: version.resource_entries > limit,
  modulesJson: modules_json,
  providersJson: providers_json,
});

/** Converts a row, whose query selected at most the resources that lists show, to its view. */
export const inListOf = (row: StateVersionRow): StateVersionView =>
  viewOf(row, MAX_LISTED_RESOURCES);
