import {
  bigint,
  boolean,
  integer,
  optional,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import { usageBasedBilling } from "../organization-billing/store.ts";
import { MAX_LISTED_RESOURCES, MAX_LISTED_TEXT } from "../state-file/packed-extraction-domain.ts";
import type { StateVersionView, StoredVersion } from "../state-version/domain.ts";
import type { WorkspaceState } from "../workspace-state/domain.ts";

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

type Contents = Pick<StateVersionView, "resourcesJson" | "modulesJson" | "providersJson">;

/** The JSON object in the column `version` of a `StateVersionRow`. */
type VersionJson = Omit<
  StateVersionView,
  keyof Contents | "omitsResources" | "serial" | "size" | "jsonSize" | "createdAt" | "expiresAt"
> & {
  serial: number;
  size: number | null;
  jsonSize: number | null;
  createdAt: string;
  expiresAt: string;
};

/** A row whose column `resourcesJson` contains the first resources of the version. */
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
const resourceEntries = `coalesce(version.resource_entries, 0) as "resourceEntries"`;

/**
 * SQL: the resources, modules and providers of a version in a list. The complete columns are read only for versions
 * with few resources.
 */
const listedContents = `coalesce(version.listed_resources, version.resources::text) as "resourcesJson",
  coalesce(version.listed_modules, ${textUpTo(MAX_LISTED_TEXT, "modules")}) as "modulesJson",
  coalesce(version.listed_providers, ${textUpTo(MAX_LISTED_TEXT, "providers")}) as "providersJson"`;

/** SQL: the id of the version of the same workspace that was created directly before or after `version`. */
const adjacent = (operator: "<" | ">", direction: "asc" | "desc") =>
  // index: state_versions_position
  `(select other.id from state_versions other
    where other.workspace_id = version.workspace_id and other.position ${operator} version.position
    order by other.position ${direction} limit 1)`;

const previous = adjacent("<", "desc");
const next = adjacent(">", "asc");

/**
 * SQL: all values of a version except resources, modules and providers, as one JSON column (ADR 19). `more` selects
 * further values.
 */
const withoutContents = (more: string) => `(select row_to_json(shown) from (
    select ${selectList("version", shownColumns)}, ${resourceEntries}, ${more}) shown) as version`;

const shownVersion =
  withoutContents(`${previous} as "previousVersionId", ${next} as "nextVersionId",
  coalesce(workspace.organization_id, '') as "organizationId",
  coalesce(workspace.project_id, '') as "projectId",
  ${usageBasedBilling("workspace.organization_id")} as "usageBasedBilling"`);

/**
 * SQL: the columns of a `StateVersionRow`. The query must name its tables `version` and `workspace`. Resources, modules
 * and providers are text columns that are not parsed.
 */
export const stateVersionColumns = `${shownVersion},
  case
    when version.resource_entries <= ${MAX_RESOURCES} then version.resources::text
    else ${firstResources(MAX_RESOURCES)}
  end as "resourcesJson",
  ${textUpTo(MAX_TEXT, "modules")} as "modulesJson",
  ${textUpTo(MAX_TEXT, "providers")} as "providersJson"`;

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
      ${withoutContents('version."previousVersionId", version."nextVersionId"')},
      ${listedContents}
    from (
      select version.*, ${within("lead", previous)} as "previousVersionId",
        ${within("lag", next)} as "nextVersionId"
      from (
        select * from state_versions version where version.workspace_id = $1
          ${status === undefined ? "" : `and version.status = ${status}`}
        order by version.position desc limit $2 offset $3) version
      window newest_first as (order by version.position desc)) version`;
}

/** The values of a row that are the same for all versions of a workspace. */
type Placement = Pick<WorkspaceState, "organizationId" | "projectId"> &
  Pick<VersionJson, "usageBasedBilling">;

/** A row of `selectListedVersions`. */
export interface ListedVersionRow extends Contents {
  id: VersionJson["id"];
  version: Omit<VersionJson, keyof Placement>;
}

export const listedViewOf = (
  { version, ...contents }: ListedVersionRow,
  { organizationId, projectId, usageBasedBilling }: Placement,
): StateVersionView =>
  inListOf({
    ...contents,
    version: {
      ...version,
      organizationId: organizationId ?? "",
      projectId: projectId ?? "",
      usageBasedBilling,
    },
  });

export const bigintOf = (value: number | null): bigint | null =>
  value === null ? null : BigInt(value);

/** Converts a row to its view. The query of the row must have selected at most `limit` resources. */
export const viewOf = (
  { version, resourcesJson, modulesJson, providersJson }: StateVersionRow,
  limit = MAX_RESOURCES,
): StateVersionView => ({
  ...version,
  createdAt: new Date(version.createdAt),
  serial: BigInt(version.serial),
  size: bigintOf(version.size),
  jsonSize: bigintOf(version.jsonSize),
  expiresAt: new Date(version.expiresAt),
  resourcesJson,
  omitsResources: version.resourceEntries > limit,
  modulesJson,
  providersJson,
});

/** Like `viewOf`, for a query that selected at most the resources that lists show. */
export const inListOf = (row: StateVersionRow): StateVersionView =>
  viewOf(row, MAX_LISTED_RESOURCES);

/** The JSON that `storedVersion` selects. */
export type StoredVersionJson = Omit<StoredVersion, "size" | "jsonSize" | "expiresAt"> & {
  size: number | null;
  jsonSize: number | null;
  expiresAt: string;
};

/**
 * SQL: a version as one JSON column (ADR 19), without the values that only its document shows. The query must name its
 * tables `version` and `workspace`.
 */
export const storedVersion = `json_build_object('id', version.id, 'workspaceId', version.workspace_id,
  'organizationId', coalesce(workspace.organization_id, ''),
  'projectId', coalesce(workspace.project_id, ''),
  'status', version.status, 'expiresAt', version.expires_at, 'md5', version.md5,
  'blobKey', version.blob_key, 'size', version.size, 'sha256', version.sha256,
  'jsonBlobKey', version.json_blob_key, 'jsonSize', version.json_size,
  'jsonSha256', version.json_sha256, 'createdByType', version.created_by_type,
  'createdById', version.created_by_id, 'createdTokenId', version.created_token_id,
  'outputsGiven', version.outputs_given, 'resourcesProcessed', version.resources_processed)`;

export const storedVersionOf = ({
  size,
  jsonSize,
  expiresAt,
  ...version
}: StoredVersionJson): StoredVersion => ({
  ...version,
  size: bigintOf(size),
  jsonSize: bigintOf(jsonSize),
  expiresAt: new Date(expiresAt),
});
