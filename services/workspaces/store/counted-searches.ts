import { LRUCache } from "lru-cache";
import type { OrganizationId } from "../domain/ids.ts";
import type { WorkspaceSearch } from "./workspace-search.ts";

/** The result of counting the workspaces of a list. */
export interface Matches {
  total: number;
  /**
   * The first matching name in the list's order. Set only for lists that are ordered by name and filtered by a partial
   * name.
   */
  firstName: string | undefined;
}

/** Identifies the names that an organization's workspaces have at a certain time. */
export interface NamesVersion {
  organizationId: OrganizationId;
  stamp: string;
}

/** Maximum number of searches whose counts are cached. */
const MAX_KEPT = 1000;

/**
 * Creates a cache for the counts of searches by name in whole organizations. A cached count is exact, because it is
 * used only while the organization has the same stamp, which changes with every change of its workspaces' names. The
 * cache is needed because the time of counting grows with the number of matches (section `growth` of the bench).
 */
export function createCountedSearches() {
  const kept = new LRUCache<string, { stamp: string; matches: Matches }>({ max: MAX_KEPT });
  return {
    find(search: WorkspaceSearch, version: NamesVersion): Matches | undefined {
      const found = kept.get(keyOf(search, version));
      return found?.stamp === version.stamp ? found.matches : undefined;
    },

    /** Caches the matches of a search. They must have been counted after the stamp was read. */
    keep(search: WorkspaceSearch, version: NamesVersion, matches: Matches): void {
      kept.set(keyOf(search, version), { stamp: version.stamp, matches });
    },
  };
}

/** Returns whether a workspace's name alone decides whether the workspace matches the search. */
export const isByNameOnly = (search: WorkspaceSearch): boolean =>
  (search.name !== "" || search.wildcardName !== "") &&
  search.tags.length === 0 &&
  search.excludedTags.length === 0 &&
  search.tagged.length === 0 &&
  search.currentRunStatuses.length === 0 &&
  search.locked === undefined &&
  search.projectId === "";

const keyOf = (
  { name, wildcardName, sort }: WorkspaceSearch,
  { organizationId }: NamesVersion,
): string => JSON.stringify([organizationId, name, wildcardName, sort.key, sort.descending]);
