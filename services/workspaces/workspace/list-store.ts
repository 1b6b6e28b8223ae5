import { type Database, offsetOf } from "@statehouse/postgres";
import type { OrganizationId } from "../ids-domain.ts";
import { Parameters } from "../parameters-store.ts";
import type { ReadScope } from "../read-scope-store.ts";
import { selectWorkspaces, toWorkspaceView, type WorkspaceRow } from "./columns-store.ts";
import type { WorkspaceSort, WorkspaceView } from "./domain.ts";
import {
  indexedCondition,
  isFiltered,
  rowCondition,
  type WorkspaceSearch,
} from "./search-store.ts";

/**
 * The workspaces of an organization that a list searches: those that the caller may read, restricted by the project
 * filter.
 */
interface SearchScope {
  organizationId: OrganizationId;
  /** The projects in the scope; null for the whole organization. */
  projectIds: string[] | null;
  /** Number of workspaces in the scope. */
  size: number;
  /**
   * Number of workspaces in the organization or, with a project filter, in the project, including those that the caller
   * cannot read.
   */
  among: number;
}

/** The result of counting the workspaces of a list. */
interface Matches {
  total: number;
  /**
   * The first matching name in the list's order. Set only for lists that are ordered by name and filtered by a partial
   * name.
   */
  firstName: string | undefined;
}

export interface FoundWorkspaces {
  organizationId: OrganizationId;
  /** The workspaces of the page. */
  workspaces: WorkspaceView[];
  /** Number of matching workspaces on all pages. */
  total: number;
}

/** The sort columns of workspaces `w`. The last column is unique, so that the order is stable and can be reversed. */
const orders = {
  // index: workspaces_name_key, workspaces_project_name
  name: ["w.name"],
  // index: workspaces_latest_change
  "latest-change-at": ["coalesce(w.latest_change_at, w.created_at)", "w.id"],
  // index: workspaces_current_run. Workspaces without a run are before all others.
  "current-run.created-at": ["coalesce(w.current_run_created_at, '-infinity')", "w.id"],
} as const satisfies Record<WorkspaceSort["key"], readonly string[]>;

const orderBy = ({ key, descending }: WorkspaceSort): string =>
  `order by ${orders[key].map((column) => `${column}${descending ? " desc" : ""}`).join(", ")}`;

/**
 * In a scope of at most this number of workspaces, evaluating the filter for each of them is faster than planning an
 * index search.
 */
const FEW = 1000;

/**
 * Creates the function that returns a page of an organization's workspaces. The function runs at most three SQL
 * statements: for the scope, for the count (if the list is filtered) and for the page. If the scope has at most `few`
 * workspaces, the filter is evaluated for each of them.
 */
export const createWorkspaceSearch = (database: Pick<Database, "query">, few = FEW) => {
  const scope = async (
    search: WorkspaceSearch,
    readable: ReadScope,
  ): Promise<SearchScope | undefined> => {
    const parameters = new Parameters();
    const [row] = await database.query<SearchScope>(
      scopeSql(search, readable, parameters),
      parameters.values,
    );
    return row;
  };

  const count = async (
    search: WorkspaceSearch,
    readable: ReadScope,
    scope: SearchScope,
  ): Promise<Matches> => {
    if (!isFiltered(search)) return { total: scope.size, firstName: undefined };
    const parameters = new Parameters();
    const matches =
      scope.size <= few
        ? rowCondition(search, parameters)
        : indexedCondition(search, scope.organizationId, parameters);
    const where = [...matches, scopeAsSet(scope, search, readable, parameters)].join(" and ");
    const [row] = await database.query<{ total: number; firstName: string | null }>(
      `select count(*) as total, ${firstNameOf(search)} as "firstName" from workspaces w where ${where}`,
      parameters.values,
    );
    return { total: Number(row?.total ?? 0), firstName: row?.firstName ?? undefined };
  };

  const page = async (
    search: WorkspaceSearch,
    readable: ReadScope,
    scope: SearchScope,
    matches: Matches,
  ): Promise<WorkspaceView[]> => {
    const parameters = new Parameters();
    const order = orderBy(search.sort);
    const isFew = scope.size <= few;
    const found = candidates(search, readable, { ...scope, ...matches, isFew }, parameters);
    // The columns of the document are read only for the rows of the page, not for skipped rows.
    const rows = await database.query<WorkspaceRow>(
      // index: workspaces_pkey
      `${found.with} ${selectWorkspaces(
        `join (select w.id ${found.from} ${order} ${parameters.limits(search.page)}) page on page.id = w.id ${order}`,
      )}`,
      parameters.values,
    );
    return rows.map(toWorkspaceView);
  };

  /**
   * Returns a page of the matching workspaces that the caller may read, with their total. Undefined if the organization
   * does not exist or the caller is not a member.
   */
  return async (
    search: WorkspaceSearch,
    readable: ReadScope,
  ): Promise<FoundWorkspaces | undefined> => {
    const found = await scope(search, readable);
    if (!found) return undefined;
    const { organizationId } = found;
    const matches = await count(search, readable, found);
    const { total } = matches;
    const none = total <= offsetOf(search.page);
    const workspaces = none ? [] : await page(search, readable, found, matches);
    return { organizationId, workspaces, total };
  };
};

/**
 * Returns the SQL for the first matching name. It needs no additional time, because the count reads the names anyway.
 */
function firstNameOf({ name, wildcardName, sort }: WorkspaceSearch): string {
  if (sort.key !== "name" || (name === "" && wildcardName === "")) return "null";
  return sort.descending ? "max(w.name)" : "min(w.name)";
}

/**
 * Returns the SQL for the scope of a list. It selects one row: the organization, the projects in the scope, and the
 * number of their workspaces. It selects no row if the organization does not exist or the caller is not a member.
 */
function scopeSql(search: WorkspaceSearch, readable: ReadScope, parameters: Parameters): string {
  const whole = `o.id = any(${parameters.bind(readable.organizationIds)})`;
  const projects = parameters.bind(readable.projectIds);
  const project = search.projectId && parameters.bind(search.projectId);
  const inProject = (table: string) => (project ? `and ${table}.project_id = ${project}` : "");
  // OFFSET makes PostgreSQL compute the readable projects once and not again for each of the sums.
  // index: workspace_counts_pkey
  const counters = `select c.project_id, c.count,
        ${whole} or ${oneOf("c.project_id", projects)} as readable
      from workspace_counts c where c.organization_id = o.id ${inProject("c")} offset 0`;
  // index: workspaces_pkey
  const others = `select count(*) from workspaces w
    where w.id = any(${parameters.bind(readable.workspaceIds)}) and w.organization_id = o.id
      and not ${whole} and not ${oneOf("w.project_id", projects)} ${inProject("w")}`;
  // index: organizations_name_key
  return `select o.id as "organizationId",
      case when ${project ? "false" : whole} then null else counted.projects end as "projectIds",
      (counted.size + (${others}))::integer as size, counted.among::integer as among
    from organizations o cross join lateral (
      select coalesce(array_agg(k.project_id) filter (where k.readable), '{}') as projects,
        coalesce(sum(k.count) filter (where k.readable), 0) as size,
        coalesce(sum(k.count), 0) as among
      from (${counters}) k) counted
    where o.name = ${parameters.bind(search.organizationName)} and o.status = 'active'
      and o.id = any(${parameters.bind(readable.memberOf)})`;
}

/**
 * Returns a row condition that compares a value with many values. PostgreSQL evaluates it with a hash table, whereas it
 * would scan the values of `= any` for each row. PostgreSQL cannot use the condition to find rows by an index.
 */
const oneOf = (value: string, values: string): string =>
  `(${value} in (select unnest(${values}::text[]))) is true`;

/**
 * Returns the scope as a condition with which PostgreSQL can find workspaces `w` by an index. Suitable for a small
 * scope.
 */
function scopeAsSet(
  { organizationId, projectIds }: SearchScope,
  { projectId }: WorkspaceSearch,
  { workspaceIds }: ReadScope,
  parameters: Parameters,
): string {
  const inOrganization = () => `w.organization_id = ${parameters.bind(organizationId)}`;
  if (!projectIds) return inOrganization();
  // With a single project, uses `=` instead of `any(…)`, so that the index also provides the sort order.
  const [only = "", ...more] = projectIds;
  const inProjects =
    more.length === 0
      ? `w.project_id = ${parameters.bind(only)}`
      : `w.project_id = any(${parameters.bind(projectIds)})`;
  if (workspaceIds.length === 0) return inProjects;
  const one = [`w.id = any(${parameters.bind(workspaceIds)})`, inOrganization()];
  if (projectId) one.push(`w.project_id = ${parameters.bind(projectId)}`);
  return `(${inProjects} or (${one.join(" and ")}))`;
}

/**
 * Returns the scope as a condition that is checked for each row, so that PostgreSQL reads the organization's workspaces
 * in the sort order. Suitable for a large scope.
 */
function scopePerRow(
  { organizationId, projectIds }: SearchScope,
  { workspaceIds }: ReadScope,
  parameters: Parameters,
): string {
  const inOrganization = `w.organization_id = ${parameters.bind(organizationId)}`;
  const either = [oneOf("w.project_id", parameters.bind(projectIds ?? []))];
  if (workspaceIds.length > 0) either.push(oneOf("w.id", parameters.bind(workspaceIds)));
  return `${inOrganization} and (${either.join(" or ")})`;
}

/**
 * Returns the SQL for the workspaces `w` from which a page is taken:
 * - If few match, all matches are found first.
 * - If many match, workspaces are read in the sort order until the page is full. This reads about (offset + size) ×
 * (workspaces in scope) / (matches) rows.
 * The cheaper of the two ways reads at most √((offset + size) × (workspaces in scope)) rows. Matches of a partial name
 * are often adjacent, so reading starts at the first matching name.
 */
function candidates(
  search: WorkspaceSearch,
  readable: ReadScope,
  scope: SearchScope & Matches & { isFew: boolean },
  parameters: Parameters,
): { with: string; from: string } {
  const { total, isFew, firstName } = scope;
  const until = offsetOf(search.page) + search.page.size;
  const walksOrganization =
    (scope.projectIds?.length ?? 0) > 1 && until * scope.among < total * scope.size;
  const inScope = walksOrganization
    ? scopePerRow(scope, readable, parameters)
    : scopeAsSet(scope, search, readable, parameters);
  if (!isFiltered(search)) return { with: "", from: `from workspaces w where ${inScope}` };
  if (isFew || total ** 2 > until * scope.size) {
    const matches = [...rowCondition(search, parameters), inScope];
    if (firstName !== undefined && !isFew) {
      const from = search.sort.descending ? "<=" : ">=";
      matches.push(`w.name ${from} ${parameters.bind(firstName)}`);
    }
    return { with: "", from: `from workspaces w where ${matches.join(" and ")}` };
  }
  const matches = [...indexedCondition(search, scope.organizationId, parameters), inScope].join(
    " and ",
  );
  return {
    with: `with found as materialized (
      select w.id, w.name, w.latest_change_at, w.created_at, w.current_run_created_at
      from workspaces w where ${matches})`,
    from: "from found w",
  };
}
