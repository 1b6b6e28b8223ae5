import { type Action, allowed, scope } from "@statehouse/authorization";
import type { Answer, Api } from "../../stack/http.ts";
import type { Site } from "./site.ts";
import type { Stage } from "./stage.ts";

/** The attributes of a listed resource that decide who sees it. */
interface Item {
  id: string;
  attributes: { visibility?: string; token?: string };
  relationships?: Record<string, { data?: { id: string } | null }>;
}

/** A route that lists, and which of the existing objects it shows to a caller. */
export interface List {
  /** In the form of a row. */
  route: string;
  path(stage: Stage): string;
  /** Objects that it additionally shows to the caller only. */
  own?(stage: Stage): string[];
  shows(stage: Stage, item: Item, openTeams: ReadonlySet<string>): boolean;
}

/** All existing objects, as the site's owner sees them. */
export interface Everything {
  byPath: Map<string, Promise<Item[] | undefined>>;
  /** The teams that are not secret. */
  openTeams: ReadonlySet<string>;
}

export async function surveyOf({ owner, organization }: Site): Promise<Everything> {
  const teams = (await readList(owner.api, `/organizations/${organization}/teams`)) ?? [];
  const open = teams.filter(({ attributes }) => attributes.visibility === "organization");
  return { byPath: new Map(), openTeams: new Set(open.map(({ id }) => id)) };
}

/** All pages of a list, or undefined if it is refused. */
async function readList(api: Api, path: string): Promise<Item[] | undefined> {
  const items: Item[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const sign = path.includes("?") ? "&" : "?";
    const answer: Answer = await api.get(`${path}${sign}page[size]=100&page[number]=${page}`);
    if (answer.status !== 200) return undefined;
    items.push(...answer.body.data);
    page = answer.body.meta?.pagination?.["next-page"] ?? null;
  }
  return items;
}

/** The ids that the caller sees, and the ids it should see; undefined if the list is refused. */
export async function compareList(
  list: List,
  stage: Stage,
  { byPath, openTeams }: Everything,
): Promise<{ seen: string[]; expected: string[] } | undefined> {
  const path = list.path(stage);
  const seen = await readList(stage.caller.api, path);
  if (!seen) return undefined;
  const key = `${stage.site.organization} ${path}`;
  const known = byPath.get(key) ?? readList(stage.site.owner.api, path);
  byPath.set(key, known);
  const there = (await known) ?? [];
  return {
    seen: seen.map(({ id }) => id).toSorted(),
    expected: there
      .filter((item) => list.shows(stage, item, openTeams))
      .map(({ id }) => id)
      .concat(list.own?.(stage) ?? [])
      .toSorted(),
  };
}

const may = ({ caller, site: { organizationId } }: Stage, action: Action, place = {}): boolean =>
  allowed(caller.grants(), action, { projectId: "", workspaceId: "", ...place, organizationId });

const isOfOwnTeam = ({ caller }: Stage, teamId: string | undefined) =>
  caller.teamId !== undefined && caller.teamId === teamId;

const related = ({ relationships }: Item, name: string) => relationships?.[name]?.data?.id ?? "";

/** Whether the action's scope, from which a list's SQL is made, contains this object. */
function inScope(stage: Stage, action: Action, projectId: string, workspaceId?: string): boolean {
  const found = scope(stage.caller.grants(), action, stage.site.organizationId);
  if (found.all) return true;
  return (
    found.projectIds.includes(projectId) ||
    (workspaceId !== undefined && found.workspaceIds.includes(workspaceId))
  );
}

const inOrganization =
  (name: string) =>
  ({ site }: Stage): string =>
    `/organizations/${site.organization}/${name}`;
const member = (stage: Stage) => may(stage, "organization:read");
const ofOrganization = (name: string, shows: List["shows"] = member): List => ({
  route: `GET /api/v2/organizations/:organizationName/${name}`,
  path: inOrganization(name),
  shows,
});
const workspaceShows: List["shows"] = (stage, item) =>
  inScope(stage, "workspace:read", related(item, "project"), item.id);

/** A tag is shown with a workspace that has it: each stage has one of its own. */
const tagShows: List["shows"] = (stage, { id }) => {
  const { projectId = "", workspaceId, tagId } = stage.estate;
  const all = scope(stage.caller.grants(), "workspace:read", stage.site.organizationId).all;
  return all || (id === tagId && inScope(stage, "workspace:read", projectId, workspaceId));
};

const teamShows: List["shows"] = (stage, { id, attributes }) =>
  attributes.visibility === "organization" ||
  may(stage, "organization:read-secret-teams") ||
  isOfOwnTeam(stage, id);

const teamTokenShows: List["shows"] = (stage, item, openTeams) => {
  const teamId = related(item, "team");
  if (teamId === stage.site.ownersTeamId) return may(stage, "organization:update");
  const sees = openTeams.has(teamId) || may(stage, "organization:read-secret-teams");
  return (
    (may(stage, "organization:manage-teams") && (sees || isOfOwnTeam(stage, teamId))) ||
    (stage.caller.type === "user" && isOfOwnTeam(stage, teamId))
  );
};

/** Every list whose content depends on the caller, or that shows everything to callers that may read it. */
export const lists: readonly List[] = [
  {
    route: "GET /api/v2/organizations",
    path: () => "/organizations",
    shows: member,
    own: ({ caller }) => (caller.organization ? [caller.organization] : []),
  },
  ofOrganization("workspaces", workspaceShows),
  ofOrganization("projects", (stage, { id }) => inScope(stage, "project:read", id)),
  {
    ...ofOrganization("projects", (stage, { id }) =>
      inScope(stage, "project:create-workspace", id),
    ),
    path: inOrganization("projects?filter[permissions][create-workspace]=true"),
  },
  {
    ...ofOrganization("projects", (stage, { id }) => inScope(stage, "project:update", id)),
    path: inOrganization("projects?filter[permissions][update]=true"),
  },
  ofOrganization("teams", teamShows),
  ofOrganization("team-tokens", teamTokenShows),
  ofOrganization("organization-memberships"),
  ofOrganization("agent-pools"),
  ofOrganization("ssh-keys"),
  ofOrganization("tags", tagShows),
  ofOrganization("reserved-tag-keys"),
  {
    route: "GET /api/v2/team-projects",
    path: ({ estate }) => `/team-projects?filter[project][id]=${estate.projectId}`,
    shows: (stage, item) => {
      const { projectId } = stage.estate;
      if (may(stage, "project:manage-teams", { projectId })) return true;
      if (isOfOwnTeam(stage, related(item, "team"))) return true;
      const open = related(item, "team") === stage.estate.teamId;
      return open && may(stage, "project:read-teams", { projectId });
    },
  },
  {
    route: "GET /api/v2/team-workspaces",
    path: ({ estate }) => `/team-workspaces?filter[workspace][id]=${estate.workspaceId}`,
    shows: (stage, item) => {
      const { projectId, workspaceId } = stage.estate;
      return (
        may(stage, "workspace:manage-teams", { projectId, workspaceId }) ||
        isOfOwnTeam(stage, related(item, "team"))
      );
    },
  },
  {
    route: "GET /api/v2/workspaces/:workspaceId/relationships/remote-state-consumers",
    path: ({ estate }) => `/workspaces/${estate.workspaceId}/relationships/remote-state-consumers`,
    shows: workspaceShows,
  },
];

/**
 * Lists of the children of one object: callers that may read it see all of them, and the matrix shows which callers
 * may.
 */
export const wholeLists: ReadonlySet<string> = new Set([
  "GET /api/v2/changelog",
  "GET /api/v2/admin/organizations",
  "GET /api/v2/admin/users",
  "GET /api/v2/users/:userId/authentication-tokens",
  "GET /api/v2/projects/:projectId/tag-bindings",
  "GET /api/v2/projects/:projectId/effective-tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/relationships/tags",
  "GET /api/v2/workspaces/:workspaceId/tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/effective-tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/current-state-version-outputs",
  "GET /api/v2/workspaces/:workspaceId/resources",
  "GET /api/v2/state-versions",
  "GET /api/v2/state-versions/:stateVersionId/outputs",
]);
