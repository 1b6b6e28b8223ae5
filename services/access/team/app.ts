import {
  authorize,
  authorizeUnlessService,
  type Caller,
  type Grants,
  grantsOf,
} from "@statehouse/authorization";
import { asRefusal, forbidden, Problems } from "@statehouse/errors";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { grantsIn, teamViewerIn } from "../caller-app.ts";
import { lastOwner, ownersTeamProtected, TEAM_NAME_TAKEN, teamNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { touch } from "../version-domain.ts";
import { allowedTeamActions, type TeamAction, teamAllows } from "./actions-domain.ts";
import {
  applyTeamSettings,
  changesOrganizationAccess,
  isTeamName,
  looksLikeOwners,
  newTeam,
  type Team,
  type TeamSettings,
  type TeamView,
  teamIsVisible,
} from "./domain.ts";
import { teamCreated, teamDeleted, teamUpdated } from "./store.ts";

/** A team with the actions that the caller may perform on it. */
export type TeamWithAllowedActions = TeamView & {
  allowedActions: ReturnType<typeof allowedTeamActions>;
};

/** Adds the caller's allowed actions to a team. A service has no grants, so its list is empty. */
const withAllowedActions =
  (caller: Caller) =>
  (view: TeamView): TeamWithAllowedActions => ({
    ...view,
    allowedActions: caller.kind === "service" ? [] : allowedTeamActions(caller.grants, view),
  });

/**
 * Throws `notFound` if the caller does not see the team, and `forbidden` if the caller is not allowed to perform the
 * action.
 */
export function authorizeTeam(caller: Caller, action: TeamAction, team: Team): void {
  authorizeToSeeTeam(caller, team);
  if (!teamAllows(grantsOf(caller), action, team)) {
    const detail = `You are not allowed to do this to the team (${action}).`;
    throw asRefusal(forbidden("not_allowed", detail), team);
  }
}

/** Throws `notFound` if the caller does not see the team. */
function authorizeToSeeTeam(caller: Caller, team: Team): void {
  // This also throws if the caller uses a user token and the organization does not accept user tokens.
  authorize(caller, "organization:read", team, "team");
  if (!isVisible(caller.grants, team)) throw asRefusal(teamNotFound(), team);
}

/** Returns whether the principal sees the team and may perform the action on it. */
export const mayDoToTeam = (grants: Grants, action: TeamAction, team: Team): boolean =>
  isVisible(grants, team) && teamAllows(grants, action, team);

const isVisible = (grants: Grants, team: Team): boolean => {
  const viewer = teamViewerIn(grants, team.organizationId);
  return viewer !== undefined && teamIsVisible(team, viewer);
};

/**
 * Throws the conflict `last_owner` if the team is the owners team and none of its members has accepted the membership
 * of the organization.
 */
export async function refuseWithoutOwner(tx: Tx, { id, owners }: Team): Promise<void> {
  if (owners && (await tx.teamMembers.countActive(id)) === 0) throw lastOwner();
}

/**
 * Creates a team. Throws `invalid` for invalid settings or an invalid or taken name, `notFound` if the caller does not
 * belong to the organization, and `forbidden`.
 */
export const createTeam = (
  app: App,
  caller: Caller,
  { organizationId, ...settings }: TeamSettings & { organizationId: OrganizationId },
): Promise<TeamWithAllowedActions> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorizeUnlessService(caller, "organization:manage-teams", { organizationId });
    if (Object.values(settings.organizationAccess).some((on) => on === true)) {
      authorizeUnlessService(caller, "organization:manage-access", { organizationId });
    }
    const at = app.now();
    const team = newTeam({ organizationId, name: "", owners: false, createdAt: at });
    await apply(tx, team, settings);
    tx.teams.save(team);
    await tx.record(teamCreated(team, touch(organization, at)));
    return withAllowedActions(caller)({ ...team, members: [] });
  });

/** Returns a team. Throws `notFound` if the caller does not see it. */
export async function getTeam(
  app: App,
  caller: Caller,
  id: TeamId,
): Promise<TeamWithAllowedActions> {
  const [found] = await app.reads.teams.batch([id], [...grantsOf(caller).organizations.keys()]);
  if (!found) throw teamNotFound();
  authorizeToSeeTeam(caller, found);
  return withAllowedActions(caller)(found);
}

/** Returns the teams that the caller sees. Throws `notFound` if the caller does not belong to the organization. */
export async function listTeams(
  app: App,
  caller: Caller,
  search: {
    organizationId: OrganizationId;
    query: string;
    names: readonly string[];
    page: PageInput;
  },
): Promise<Page<TeamWithAllowedActions>> {
  const { teamIds } = grantsIn(caller, search.organizationId);
  const viewer = teamViewerIn(grantsOf(caller), search.organizationId);
  const seesAll = viewer?.owner === true || viewer?.seesSecretTeams === true;
  const { rows, total } = await app.reads.teams.list({ ...search, seesAll, teamIds });
  return { rows: rows.map(withAllowedActions(caller)), total };
}

/**
 * Changes the settings that the request contains. Throws `notFound`, `forbidden`, `invalid`, or the conflict
 * `owners_team`.
 */
export const updateTeam = (
  app: App,
  caller: Caller,
  { id, ...settings }: TeamSettings & { id: TeamId },
): Promise<TeamWithAllowedActions> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(id);
    const { organizationAccess, ...own } = settings;
    const givesAccess = Object.keys(organizationAccess).length > 0;
    const changesOwn = Object.values(own).some((value) => value !== undefined);
    if (changesOwn || !givesAccess) authorizeTeam(caller, "update", team);
    // Clients send all attributes that they know. Permissions that the request does not change therefore require no
    // additional right if the request also contains other settings.
    if (givesAccess && (!changesOwn || changesOrganizationAccess(team, organizationAccess))) {
      authorizeTeam(caller, "manage-access", team);
    }
    const revision = touch(organization, app.now());
    await apply(tx, team, settings);
    await tx.record(teamUpdated(team, revision));
    return withAllowedActions(caller)(await tx.teams.commit(team));
  });

async function apply(tx: Tx, team: Team, settings: TeamSettings): Promise<void> {
  const problems = new Problems();
  const renamed = settings.name !== undefined && settings.name !== team.name;
  applyTeamSettings(team, settings, problems);
  const isOwners = renamed && looksLikeOwners(team.name);
  // A taken name is reported with the other problems or, if there are none, by the unique constraint.
  const mayBeTaken = !problems.areEmpty && isTeamName(team.name);
  if (isOwners || (mayBeTaken && (await tx.teams.nameIsTaken(team)))) {
    problems.add("name", TEAM_NAME_TAKEN);
  }
  problems.throwIfAny();
}

/**
 * Deletes the team with its members, grants and tokens. Throws `notFound`, `forbidden`, or the conflict `owners_team`.
 */
export const deleteTeam = (app: App, caller: Caller, id: TeamId): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(id);
    authorizeTeam(caller, "delete", team);
    if (team.owners) throw ownersTeamProtected();
    const at = app.now();
    for (const user of await tx.users.membersForUpdate(id)) touch(user, at);
    await tx.record(teamDeleted(team, touch(organization, at)));
    await tx.teams.remove(team);
  });

/** Returns the teams among `ids` that the caller sees. */
export async function batchGetTeams(
  app: App,
  caller: Caller,
  ids: readonly TeamId[],
): Promise<TeamWithAllowedActions[]> {
  const grants = grantsOf(caller);
  if (ids.length === 0) return [];
  const found = await app.reads.teams.batch(ids, [...grants.organizations.keys()]);
  return found.filter((team) => isVisible(grants, team)).map(withAllowedActions(caller));
}
