import type { PageInput } from "@statehouse/postgres";
import type { OrganizationId } from "../domain/ids.ts";
import type { WorkspaceSort } from "../domain/workspace.ts";
import { containing, type Parameters, withStars } from "./parameters.ts";

/** Matches effective bindings; an empty member matches anything. */
export interface TagFilter {
  key: string;
  value: string;
}

export interface WorkspaceSearch {
  organizationName: string;
  /** Part of the name, ignoring case; empty: any. */
  name: string;
  /** The whole name, with `*` as a wildcard at either end; empty: any. */
  wildcardName: string;
  /** Flat tags, all of them. */
  tags: readonly string[];
  /** Flat tags, none of them. */
  excludedTags: readonly string[];
  /** All of these. */
  tagged: readonly TagFilter[];
  /** Any of these; empty: any, or no run at all. */
  currentRunStatuses: readonly string[];
  /** Empty: any. */
  projectId: string;
  sort: WorkspaceSort;
  page: PageInput;
}

/** Whether anything except project and caller narrows the list. */
export const isFiltered = (search: WorkspaceSearch): boolean =>
  search.name !== "" ||
  search.wildcardName !== "" ||
  search.tags.length > 0 ||
  search.excludedTags.length > 0 ||
  search.tagged.length > 0 ||
  search.currentRunStatuses.length > 0;

/**
 * The search conditions except project and caller, as conditions on workspaces `w` from which PostgreSQL can find the
 * workspaces: right for few matches.
 */
export function filterAsSet(
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
    ...search.tagged.map((filter) => taggedBySet(filter, organization(), parameters)),
  ];
}

/**
 * The same as row conditions: right for many matches, because a page is soon full. PostgreSQL's estimates are too
 * inaccurate to leave the choice to it.
 */
export function filterPerRow(search: WorkspaceSearch, parameters: Parameters): string[] {
  const tags = [...new Set(search.tags)];
  // index: tag_bindings_workspace_key
  const flat = () => `(
    select count(*) from tag_bindings b
    where b.workspace_id = w.id and b.key = any(${parameters.bind(tags)}) and b.value = ''
  ) = ${parameters.bind(tags.length)}`;
  return [
    // Concatenated with nothing, the expression is no longer the one of the trigram index.
    ...patternsOf(search).map((pattern) => `w.name || '' ilike ${parameters.bind(pattern)}`),
    ...(tags.length > 0 ? [flat()] : []),
    ...(search.excludedTags.length > 0
      ? [`(select count(*) ${excluded(search, parameters)}) = 0`]
      : []),
    ...currentRun("w.current_run_status || ''", search, parameters),
    ...search.tagged.map((filter) => taggedByRow(filter, parameters)),
  ];
}

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

// index: tag_bindings_workspace_key, tag_bindings_tagged
const excluded = ({ excludedTags }: WorkspaceSearch, parameters: Parameters): string =>
  `from tag_bindings b
   where b.workspace_id = w.id and b.key = any(${parameters.bind(excludedTags)}) and b.value = ''`;

/** On bindings `b`. */
const matching = ({ key, value }: TagFilter, parameters: Parameters): string =>
  [
    ...(key === "" ? [] : [`b.key = ${parameters.bind(key)}`]),
    ...(value === "" ? [] : [`b.value = ${parameters.bind(value)}`]),
  ].join(" and ");

// A workspace inherits the bindings of its project whose key it does not have itself. If any value matches, its own
// matches as well.

function taggedBySet(filter: TagFilter, organization: string, parameters: Parameters): string {
  const matches = `b.organization_id = ${organization} and ${matching(filter, parameters)}`;
  const overridden = `exists (
    select from tag_bindings own where own.workspace_id = i.id and own.key = b.key)`;
  // index: tag_bindings_tagged, tag_bindings_tagged_value, tag_bindings_project_tagged,
  // workspaces_project_name, tag_bindings_workspace_key
  return `w.id in (
    select b.workspace_id from tag_bindings b where ${matches} and b.workspace_id is not null
    union all
    select i.id from tag_bindings b join workspaces i on i.project_id = b.project_id
    where ${matches} and b.project_id is not null ${filter.value && `and not ${overridden}`})`;
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
