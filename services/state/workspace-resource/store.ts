import {
  type Database,
  type EntityManager,
  offsetOf,
  type Page,
  type PageInput,
  queryIn,
  withTotal,
} from "@statehouse/postgres";
import type { WorkspaceId } from "../ids-domain.ts";
import type { StateVersion } from "../state-version/domain.ts";
import type { ResourceField, ResourceSort, WorkspaceResource } from "./domain.ts";

/**
 * SQL: replaces the resources of workspace $1 with the instances in $2, JSON of `ResourceInstance[]`. The three changes
 * concern different resources, so their order does not matter.
 */
const replaceResources = `-- index: workspace_resources_address
  with found as materialized (
    select * from json_to_recordset($2) as given (address text, name text, module text,
      provider text, type text, "nameIndex" text, digest text)),
  removed as (
    delete from workspace_resources known where workspace_id = $1
      and not exists (select from found where found.address = known.address)),
  changed as (
    update workspace_resources known set provider = found.provider, digest = found.digest,
      updated_at = $3, modified_by = $4
    from found where known.workspace_id = $1 and known.address = found.address
      and (known.digest, known.provider) <> (found.digest, found.provider))
  insert into workspace_resources (workspace_id, id, address, name, module, provider, type,
    name_index, digest, created_at, updated_at, modified_by)
  select $1, 'wsr-' || right(replace(gen_random_uuid()::text, '-', ''), 16), address, name,
    module, provider, type, "nameIndex", digest, $3, $3, $4
  from found where not exists (
    select from workspace_resources known
    where known.workspace_id = $1 and known.address = found.address)`;

const rows = (em: EntityManager) => ({
  /**
   * Replaces the workspace's resources with the instances of `version`, given as JSON of `ResourceInstance[]`.
   * Unchanged resources keep their id and times. The transaction must hold the lock on the workspace.
   */
  async replace(
    { id, workspaceId, createdAt }: Pick<StateVersion, "id" | "workspaceId" | "createdAt">,
    instances: string,
  ): Promise<void> {
    await queryIn(em, replaceResources, [workspaceId, instances, createdAt, id]);
  },

  async removeAll(workspaceId: WorkspaceId): Promise<void> {
    // index: workspace_resources_pkey
    await queryIn(em, "delete from workspace_resources where workspace_id = $1", [workspaceId]);
  },
});

/** Filter, order and page for listing a workspace's resources. */
export interface ResourceQuery {
  /** Selects the resources whose address contains this text; empty for all resources. */
  search: string;
  /** If undefined, the list is sorted by address. */
  sort: ResourceSort | undefined;
  page: PageInput;
}

/** SQL: the columns of a `WorkspaceResource`. */
const columns = `id, address, name, module, provider, type, name_index as "nameIndex",
  created_at as "createdAt", updated_at as "updatedAt", modified_by as "modifiedBy"`;

/**
 * SQL: the order by address. The expression must equal that of the index, which shortens addresses because they may be
 * longer than an index entry. `row` is empty, or an alias with a dot.
 */
const byAddress = (row: string) => `left(${row}address, 500), ${row}id`;

const sortColumns: Record<ResourceField, string> = {
  name: "name",
  nameIndex: '"nameIndex"',
  provider: "provider",
  providerType: "type",
  module: "module",
  updatedAt: '"updatedAt"',
};

const reads = (database: Database) => ({
  async list(
    workspaceId: WorkspaceId,
    { search, sort, page }: ResourceQuery,
  ): Promise<Page<WorkspaceResource>> {
    const condition = "workspace_id = $1 and ($2 = '' or strpos(address, $2) > 0)";
    const order = (row: string) =>
      `${sort ? `${row}${sortColumns[sort.field]} ${sort.descending ? "desc" : "asc"}, ` : ""}${byAddress(row)}`;
    return database.page<WorkspaceResource>(
      // index: workspace_resources_address, for both
      withTotal({
        count: `select count(*) as total from workspace_resources where ${condition}`,
        select: `select ${columns} from workspace_resources where ${condition}
          order by ${order("")} limit $3 offset $4`,
        order: order("listed."),
      }),
      [workspaceId, search, page.size, offsetOf(page)],
    );
  },
});

export const workspaceResources = { rows, reads };
