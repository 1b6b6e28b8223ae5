import { type Action, allowed, scope } from "@statehouse/authorization";
import type { Answer, Api } from "../../stack/http.ts";
import type { MatrixFixture } from "./fixture.ts";
import type { PreparedCaller } from "./prepared-caller.ts";

/** The attributes of a listed resource that determine which callers may read it. */
interface Item {
  id: string;
  attributes: { visibility?: string; token?: string };
  relationships?: Record<string, { data?: { id: string } | null }>;
}

/** A route that returns a list, with the rule that decides which objects it returns to each caller. */
export interface List {
  /** The route, as the rows of the matrix name it. */
  route: string;
  path(prepared: PreparedCaller): string;
  /** Returns the ids of objects that only this caller finds in the list. */
  own?(prepared: PreparedCaller): string[];
  shows(prepared: PreparedCaller, item: Item, openTeams: ReadonlySet<string>): boolean;
}

/** All existing objects, as the fixture's owner reads them. */
export interface Everything {
  byPath: Map<string, Promise<Item[] | undefined>>;
  /** The teams that are not secret. */
  openTeams: ReadonlySet<string>;
}

export async function surveyOf({ owner, organization }: MatrixFixture): Promise<Everything> {
  const teams = (await readList(owner.api, `/organizations/${organization}/teams`)) ?? [];
  const open = teams.filter(({ attributes }) => attributes.visibility === "organization");
  return { byPath: new Map(), openTeams: new Set(open.map(({ id }) => id)) };
}

/** Reads all pages of a list; undefined if the list is refused. */
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

/**
 * Returns the ids that the caller finds in the list and the ids that it should find; undefined if the list is refused.
 */
export async function compareList(
  list: List,
  prepared: PreparedCaller,
  { byPath, openTeams }: Everything,
): Promise<{ seen: string[]; expected: string[] } | undefined> {
  const path = list.path(prepared);
  const seen = await readList(prepared.caller.api, path);
  if (!seen) return undefined;
  const key = `${prepared.fixture.organization} ${path}`;
  const known = byPath.get(key) ?? readList(prepared.fixture.owner.api, path);
  byPath.set(key, known);
  const there = (await known) ?? [];
  return {
    seen: seen.map(({ id }) => id).toSorted(),
    expected: there
      .filter((item) => list.shows(prepared, item, openTeams))
      .map(({ id }) => id)
      .concat(list.own?.(prepared) ?? [])
      .toSorted(),
  };
}

const may = (
  { caller, fixture: { organizationId } }: PreparedCaller,
  action: Action,
  place = {},
): boolean =>
  allowed(caller.grants(), action, { projectId: "", workspaceId: "", ...place, organizationId });

const isOfOwnTeam = ({ caller }: PreparedCaller, teamId: string | undefined) =>
  caller.teamId !== undefined && caller.teamId === teamId;

const related = ({ relationships }: Item, name: string) => relationships?.[name]?.data?.id ?? "";

/**
 * Returns whether the caller's scope for the action contains the object. The SQL of lists is made from the same scope.
 */
function inScope(
  prepared: PreparedCaller,
  action: Action,
  projectId: string,
  workspaceId?: string,
): boolean {
  const found = scope(prepared.caller.grants(), action, prepared.fixture.organizationId);
  if (found.all) return true;
  return (
    found.projectIds.includes(projectId) ||
    (workspaceId !== undefined && found.workspaceIds.includes(workspaceId))
  );
}

const inOrganization =
  (name: string) =>
  ({ fixture }: PreparedCaller): string =>
    `/organizations/${fixture.organization}/${name}`;
const member = (prepared: PreparedCaller) => may(prepared, "organization:read");
const ofOrganization = (name: string, shows: List["shows"] = member): List => ({
  route: `GET /api/v2/organizations/:organizationName/${name}`,
  path: inOrganization(name),
  shows,
});
const workspaceShows: List["shows"] = (prepared, item) =>
  inScope(prepared, "workspace:read", related(item, "project"), item.id);

/**
 * A tag is listed for callers that may read a workspace with this tag. Each prepared caller has its own tag, which only
 * its own workspace has.
 */
const tagShows: List["shows"] = (prepared, { id }) => {
  const { projectId = "", workspaceId, tagId } = prepared.objects;
  const all = scope(
    prepared.caller.grants(),
    "workspace:read",
    prepared.fixture.organizationId,
  ).all;
  return all || (id === tagId && inScope(prepared, "workspace:read", projectId, workspaceId));
};

const teamShows: List["shows"] = (prepared, { id, attributes }) =>
  attributes.visibility === "organization" ||
  may(prepared, "organization:read-secret-teams") ||
  isOfOwnTeam(prepared, id);

const teamTokenShows: List["shows"] = (prepared, item, openTeams) => {
  const teamId = related(item, "team");
  if (teamId === prepared.fixture.ownersTeamId) return may(prepared, "organization:update");
  const sees = openTeams.has(teamId) || may(prepared, "organization:read-secret-teams");
  return (
    (may(prepared, "organization:manage-teams") && (sees || isOfOwnTeam(prepared, teamId))) ||
    (prepared.caller.type === "user" && isOfOwnTeam(prepared, teamId))
  );
};

/**
 * Every list whose content depends on the caller, and lists that return everything to every caller that may read them.
 */
export const lists: readonly List[] = [
  {
    route: "GET /api/v2/organizations",
    path: () => "/organizations",
    shows: member,
    own: ({ caller }) => (caller.organization ? [caller.organization] : []),
  },
  ofOrganization("workspaces", workspaceShows),
  ofOrganization("projects", (prepared, { id }) => inScope(prepared, "project:read", id)),
  {
    ...ofOrganization("projects", (prepared, { id }) =>
      inScope(prepared, "project:create-workspace", id),
    ),
    path: inOrganization("projects?filter[permissions][create-workspace]=true"),
  },
  {
    ...ofOrganization("projects", (prepared, { id }) => inScope(prepared, "project:update", id)),
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
    path: ({ objects }) => `/team-projects?filter[project][id]=${objects.projectId}`,
    shows: (prepared, item) => {
      const { projectId } = prepared.objects;
      if (may(prepared, "project:manage-teams", { projectId })) return true;
      if (isOfOwnTeam(prepared, related(item, "team"))) return true;
      const open = related(item, "team") === prepared.objects.teamId;
      return open && may(prepared, "project:read-teams", { projectId });
    },
  },
  {
    route: "GET /api/v2/team-workspaces",
    path: ({ objects }) => `/team-workspaces?filter[workspace][id]=${objects.workspaceId}`,
    shows: (prepared, item) => {
      const { projectId, workspaceId } = prepared.objects;
      return (
        may(prepared, "workspace:manage-teams", { projectId, workspaceId }) ||
        isOfOwnTeam(prepared, related(item, "team"))
      );
    },
  },
  {
    route: "GET /api/v2/workspaces/:workspaceId/relationships/remote-state-consumers",
    path: ({ objects }) =>
      `/workspaces/${objects.workspaceId}/relationships/remote-state-consumers`,
    shows: workspaceShows,
  },
];

/**
 * Lists whose items are not compared: they contain all children of an object, of the caller or of the installation. The
 * authorization matrix tests which callers may read such a list.
 */
export const wholeLists: ReadonlySet<string> = new Set([
  "GET /api/v2/changelog",
  "GET /api/v2/admin/organizations",
  "GET /api/v2/admin/users",
  "GET /api/v2/admin/workspaces",
  "GET /api/v2/users/:userId/authentication-tokens",
  "GET /api/v2/organization-memberships",
  "GET /api/v2/organization/audit-trail",
  "GET /api/v2/organizations/:organizationName/token-ttl-policies",
  "GET /api/v2/teams/:teamId/relationships/organization-memberships",
  "GET /api/v2/projects/:projectId/tag-bindings",
  "GET /api/v2/projects/:projectId/relationships/tag-bindings",
  "GET /api/v2/projects/:projectId/effective-tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/relationships/tags",
  "GET /api/v2/workspaces/:workspaceId/tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/relationships/tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/effective-tag-bindings",
  "GET /api/v2/workspaces/:workspaceId/current-state-version-outputs",
  "GET /api/v2/workspaces/:workspaceId/resources",
  "GET /api/v2/state-versions",
  "GET /api/v2/state-versions/:stateVersionId/outputs",
]);
