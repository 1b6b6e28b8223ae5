import { type Database, offsetOf, withTotal } from "@statehouse/postgres";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { OrganizationId, RunId, WorkspaceId } from "../ids-domain.ts";
import { containing } from "../parameters-store.ts";
import type { AdministeredWorkspaceSort } from "../workspace/domain.ts";

/** The values of a workspace that administrators of the installation see, in any organization. */
export interface AdministeredWorkspace {
  id: WorkspaceId;
  name: string;
  locked: boolean;
  vcsRepoIdentifier: string | null;
  organizationId: OrganizationId;
  currentRunId: RunId | null;
}

export interface AdministeredWorkspaceSearch {
  /** Part of the workspace's name; empty matches all. */
  query: string;
  /** The current run must have one of these statuses; an empty list matches all workspaces. */
  currentRunStatuses: readonly string[];
  sort: AdministeredWorkspaceSort;
  page: PageInput;
}

/** Returns the sort columns of the table `table`. The last column is unique, so that the order is stable. */
const orderBy = ({ key, descending }: AdministeredWorkspaceSort, table: string): string => {
  const direction = descending ? "desc" : "asc";
  const column =
    key === "name" ? `${table}.name` : `coalesce(${table}."currentRunCreatedAt", '-infinity')`;
  return `${column} ${direction}, ${table}.id ${direction}`;
};

const matches = `o.status = 'active' and w.name ilike $1
  and (cardinality($2::text[]) = 0 or w.current_run_status = any($2))`;

const reads = (database: Database) => ({
  /** Returns a page of the workspaces of all organizations. For administrators. */
  async page(search: AdministeredWorkspaceSearch): Promise<Page<AdministeredWorkspace>> {
    // index: organizations_pkey, runs_pkey. The workspaces of all organizations are counted, which no index speeds up.
    const from = "from workspaces w join organizations o on o.id = w.organization_id";
    return database.page<AdministeredWorkspace>(
      withTotal({
        count: `select count(*) as total ${from} where ${matches}`,
        select: `select found.* from (
            select w.id, w.name, w.lock_since is not null as locked,
              w.vcs_repo ->> 'identifier' as "vcsRepoIdentifier",
              w.organization_id as "organizationId", w.current_run_id as "currentRunId",
              w.current_run_created_at as "currentRunCreatedAt"
            ${from} where ${matches}) found
          order by ${orderBy(search.sort, "found")} limit $3 offset $4`,
        order: orderBy(search.sort, "listed"),
      }),
      [
        containing(search.query),
        search.currentRunStatuses,
        search.page.size,
        offsetOf(search.page),
      ],
    );
  },
});

export const administeredWorkspaces = { reads };
