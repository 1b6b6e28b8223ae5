import type { PageInput } from "@statehouse/postgres";
import type { OrganizationId } from "../ids-domain.ts";
import { containing, type Parameters, withStars } from "../parameters-store.ts";
import type { TagFilter } from "../tag-binding/domain.ts";
import type { WorkspaceSort } from "./domain.ts";

export interface WorkspaceSearch {
  organizationName: string;
  /** Part of the workspace's name, ignoring case; empty matches all. */
  name: string;
  /** The whole name, with `*` as a wildcard at the beginning or end; empty matches all. */
  wildcardName: string;
  /** A workspace must have all of these flat tags. */
  tags: readonly string[];
  /** A workspace must have none of these flat tags. */
  excludedTags: readonly string[];
  /** A workspace must match all of these filters or, with `taggedAny`, at least one of them. */
  tagged: readonly TagFilter[];
  taggedAny: boolean;
  /** The current run must have one of these statuses. If empty, all workspaces match, including those without a run. */
  currentRunStatuses: readonly string[];
  /** If true, a workspace must be locked; if false, it must not be locked. Undefined matches all. */
  locked: boolean | undefined;
  /** The id of a project; empty matches all projects. */
  projectId: string;
  sort: WorkspaceSort;
  page: PageInput;
}

/** Returns whether the list has a filter other than the project. */
export const isFiltered = (search: WorkspaceSearch): boolean =>
  search.name !== "" ||
  search.wildcardName !== "" ||
  search.tags.length > 0 ||
  search.excludedTags.length > 0 ||
  search.tagged.length > 0 ||
  search.currentRunStatuses.length > 0 ||
  search.locked !== undefined;

/**
 * Returns the search conditions, except project and caller, with which PostgreSQL can find workspaces `w` by indexes.
 * Suitable if few workspaces match.
 */
export function indexedCondition(
  search: WorkspaceSearch,
  organizationId: OrganizationId,
  parameters: Parameters,
): string[] {
  const organization = () => parameters.bind(organizationId);
  return [
    // index: workspaces_name_trigram
    ...patternsOf(search).map((pattern) => `w.name ilike ${parameters.bind(pattern)}`),
    // index: tag_bindings_tagged
    ...[...new Set(search.tags)].map(
      (tag) => `w.id in (
        select b.workspace_id from tag_bindings b
        where b.organization_id = ${organization()} and b.workspace_id is not null
          and b.key = ${parameters.bind(tag)} and b.value = '')`,
    ),
    ...(search.excludedTags.length > 0
      ? [`not exists (select ${excluded(search, parameters)})`]
      : []),
    // index: workspaces_current_run_status
    ...currentRun("w.current_run_status", search, parameters),
    ...lock(search),
    ...taggedBySets(search, organization, parameters),
  ];
}

/**
 * Returns the same search conditions as `indexedCondition`, in a form that PostgreSQL checks for each row without an
 * index. Suitable if many workspaces match, because a page is then full after a few rows. PostgreSQL's estimates are
 * too inaccurate to choose between the two kinds of conditions.
 */
export function rowCondition(search: WorkspaceSearch, parameters: Parameters): string[] {
  const tags = [...new Set(search.tags)];
  // index: tag_bindings_workspace_key
  const flat = () => `(
    select count(*) from tag_bindings b
    where b.workspace_id = w.id and b.key = any(${parameters.bind(tags)}) and b.value = ''
  ) = ${parameters.bind(tags.length)}`;
  return [
    // The empty string makes the expression differ from the expression of the trigram index, so that PostgreSQL does
    // not use the index.
    ...patternsOf(search).map((pattern) => `w.name || '' ilike ${parameters.bind(pattern)}`),
    ...(tags.length > 0 ? [flat()] : []),
    ...(search.excludedTags.length > 0
      ? [`(select count(*) ${excluded(search, parameters)}) = 0`]
      : []),
    ...currentRun("w.current_run_status || ''", search, parameters),
    ...lock(search),
    ...taggedAs(
      search,
      search.tagged.map((filter) => taggedByRow(filter, parameters)),
    ),
  ];
}

/**
 * Combines the conditions of the tag filters: a workspace must match all of them, or at least one if `taggedAny` is
 * set.
 */
const taggedAs = ({ taggedAny }: WorkspaceSearch, conditions: readonly string[]): string[] =>
  taggedAny && conditions.length > 0 ? [`(${conditions.join(" or ")})`] : [...conditions];

const patternsOf = ({ name, wildcardName }: WorkspaceSearch): string[] => [
  ...(name === "" ? [] : [containing(name)]),
  ...(wildcardName === "" ? [] : [withStars(wildcardName)]),
];

const currentRun = (
  status: string,
  { currentRunStatuses }: WorkspaceSearch,
  parameters: Parameters,
): string[] =>
  currentRunStatuses.length === 0
    ? []
    : [`${status} = any(${parameters.bind(currentRunStatuses)})`];

/**
 * Returns the condition on the lock, which is evaluated for each workspace of the scope. An index would have to be
 * updated, together with all other indexes of the row, for every lock and unlock.
 */
const lock = ({ locked }: WorkspaceSearch): string[] =>
  locked === undefined ? [] : [`w.lock_since is ${locked ? "not null" : "null"}`];

// index: tag_bindings_workspace_key, tag_bindings_tagged
const excluded = ({ excludedTags }: WorkspaceSearch, parameters: Parameters): string =>
  `from tag_bindings b
   where b.workspace_id = w.id and b.key = any(${parameters.bind(excludedTags)}) and b.value = ''`;

/** Returns an SQL condition on tag bindings `b`. */
const matching = ({ key, value }: TagFilter, parameters: Parameters): string =>
  [
    ...(key === "" ? [] : [`b.key = ${parameters.bind(key)}`]),
    ...(value === "" ? [] : [`b.value = ${parameters.bind(value)}`]),
  ].join(" and ");

// A workspace inherits those bindings of its project whose keys it does not bind itself. A filter without a value need
// not check for overrides: a workspace that overrides a matching key has a matching binding of its own.

function taggedBySets(
  { tagged, taggedAny }: WorkspaceSearch,
  organization: () => string,
  parameters: Parameters,
): string[] {
  if (tagged.length === 0) return [];
  const sets = tagged.map((filter) => taggedBySet(filter, organization(), parameters));
  return (taggedAny ? [sets.join(" union all ")] : sets).map((set) => `w.id in (${set})`);
}

/** Returns the SQL of a query for the ids of the workspaces that match the filter. */
function taggedBySet(filter: TagFilter, organization: string, parameters: Parameters): string {
  const matches = `b.organization_id = ${organization} and ${matching(filter, parameters)}`;
  const overridden = `exists (
    select from tag_bindings own where own.workspace_id = i.id and own.key = b.key)`;
  // index: tag_bindings_tagged, tag_bindings_tagged_value, tag_bindings_project_tagged,
  // workspaces_project_name, tag_bindings_workspace_key
  return `
    select b.workspace_id from tag_bindings b where ${matches} and b.workspace_id is not null
    union all
    select i.id from tag_bindings b join workspaces i on i.project_id = b.project_id
    where ${matches} and b.project_id is not null ${filter.value && `and not ${overridden}`}`;
}

function taggedByRow(filter: TagFilter, parameters: Parameters): string {
  const matches = matching(filter, parameters);
  const overridden = `(
    select count(*) from tag_bindings own where own.workspace_id = w.id and own.key = b.key) > 0`;
  // index: tag_bindings_workspace_key, tag_bindings_project_key
  return `(
    (select count(*) from tag_bindings b where b.workspace_id = w.id and ${matches}) > 0
    or (select count(*) from tag_bindings b where b.project_id = w.project_id and ${matches}
      ${filter.value && `and not ${overridden}`}) > 0)`;
}
