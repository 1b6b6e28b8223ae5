import {
  authorize,
  authorizeUnlessService,
  type Caller,
  type Grants,
  grantsOf,
} from "@statehouse/authorization";
import { forbidden } from "@statehouse/errors";
import type { PageInput } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import {
  invalidTeamName,
  noSuchTeam,
  ownersTeamStays,
  teamNameTaken,
  throwIfAny,
} from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import {
  applyTeamSettings,
  changesOrganizationAccess,
  isTeamName,
  Team,
  type TeamSettings,
  type TeamView,
  teamIsVisible,
} from "../domain/team.ts";
import { shownTeamActions, type TeamAction, teamAllows } from "../domain/team-actions.ts";
import { bump } from "../domain/version.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { grantsIn, membershipIn } from "./caller.ts";

/** A team with the caller's allowed actions. */
export type ShownTeam = TeamView & { allowedActions: ReturnType<typeof shownTeamActions> };

const show =
  (caller: Caller) =>
  (view: TeamView): ShownTeam => ({
    ...view,
    allowedActions: caller.kind === "principal" ? shownTeamActions(caller.grants, view.team) : [],
  });

/** Throws `notFound` unless the caller sees the team, `forbidden` unless the action is allowed. */
export function authorizeTeam(caller: Caller, action: TeamAction | undefined, team: Team): void {
  if (caller.kind !== "principal") return;
  // Also refuses user tokens where the organization does not accept them.
  authorize(caller, "organization:read", team, "team");
  if (!isVisible(caller.grants, team)) throw noSuchTeam();
  if (action && !teamAllows(caller.grants, action, team)) {
    throw forbidden("not_allowed", `You may not do this to the team (${action}).`);
  }
}

/** Whether the caller sees the team and the action is allowed. */
export const mayDoToTeam = (grants: Grants, action: TeamAction, team: Team): boolean =>
  isVisible(grants, team) && teamAllows(grants, action, team);

const isVisible = (grants: Grants, team: Team): boolean => {
  const membership = membershipIn(grants, team.organizationId);
  return membership !== undefined && teamIsVisible(team, membership);
};

/** Adds a team. Throws `invalid` if the name is invalid or taken, `notFound` for the organization. */
export const createTeam = (
  app: App,
  caller: Caller,
  { organizationId, ...settings }: TeamSettings & { organizationId: OrganizationId },
): Promise<ShownTeam> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorizeUnlessService(caller, "organization:manage-teams", { organizationId });
    if (Object.values(settings.organizationAccess).some((on) => on === true)) {
      authorizeUnlessService(caller, "organization:manage-access", { organizationId });
    }
    const at = app.now();
    const team = new Team({
      id: newId("team"),
      organizationId,
      name: "",
      visibility: "secret",
      organizationAccess: [],
      owners: false,
      ssoTeamId: null,
      allowMemberTokenManagement: true,
      createdAt: at,
    });
    const problems = applyTeamSettings(team, settings);
    if (!settings.name) problems.push(invalidTeamName);
    if (isTeamName(team.name) && (await tx.teams.nameIsTaken(team))) problems.push(teamNameTaken);
    throwIfAny(problems);
    const revision = bump(organization, at);
    await tx.teams.add(team);
    await tx.record({ type: "teamCreated", team, revision });
    return show(caller)({ team, members: [] });
  });

/** Throws `notFound` for a team that the caller does not see. */
export async function getTeam(app: App, caller: Caller, id: TeamId): Promise<ShownTeam> {
  const [found] = await app.reads.teams.batch([id], [...grantsOf(caller).organizations.keys()]);
  if (!found) throw noSuchTeam();
  authorizeTeam(caller, undefined, found.team);
  return show(caller)(found);
}

/** Teams that the caller sees. Throws `notFound` for an organization that it does not belong to. */
export async function listTeams(
  app: App,
  caller: Caller,
  search: {
    organizationId: OrganizationId;
    query: string;
    names: readonly string[];
    page: PageInput;
  },
): Promise<{ teams: ShownTeam[]; total: number }> {
  const { teamIds } = grantsIn(caller, search.organizationId);
  const membership = membershipIn(grantsOf(caller), search.organizationId);
  const seesAll = membership?.owner === true || membership?.seesSecretTeams === true;
  const { teams, total } = await app.reads.teams.list({ ...search, seesAll, teamIds });
  return { teams: teams.map(show(caller)), total };
}

/** Changes the given settings. Throws `notFound`, `forbidden`, `invalid`, the conflict `owners_team`. */
export const updateTeam = (
  app: App,
  caller: Caller,
  { id, ...settings }: TeamSettings & { id: TeamId },
): Promise<ShownTeam> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(id);
    const team = await tx.teams.get(id);
    const { organizationAccess, ...own } = settings;
    const givesAccess = Object.keys(organizationAccess).length > 0;
    const changesOwn = Object.values(own).some((value) => value !== undefined);
    if (changesOwn || !givesAccess) authorizeTeam(caller, "update", team);
    // Clients send all known values: unchanged permissions require no authorization of their own.
    if (givesAccess && (!changesOwn || changesOrganizationAccess(team, organizationAccess))) {
      authorizeTeam(caller, "manage-access", team);
    }
    const problems = applyTeamSettings(team, settings);
    if (isTeamName(team.name) && (await tx.teams.nameIsTaken(team))) problems.push(teamNameTaken);
    throwIfAny(problems);
    const revision = bump(organization, app.now());
    await tx.teams.save(team);
    await tx.record({ type: "teamUpdated", team, revision });
    return show(caller)({ team, members: await membersOf(tx, team) });
  });

/** Deletes the team with its members, grants and tokens. Throws `notFound`, `forbidden`, the conflict `owners_team`. */
export const deleteTeam = (app: App, caller: Caller, id: TeamId): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(id);
    const team = await tx.teams.get(id);
    authorizeTeam(caller, "delete", team);
    if (team.owners) throw ownersTeamStays();
    const at = app.now();
    const revision = bump(organization, at);
    for (const { userId } of await tx.teamMembers.ofTeam(id)) {
      bump(await tx.users.getForUpdate(userId), at);
    }
    await tx.record({ type: "teamDeleted", team, revision });
    await tx.teams.delete(team);
  });

/** Members of the teams that the caller sees. */
export async function batchGetTeams(
  app: App,
  caller: Caller,
  ids: readonly TeamId[],
): Promise<ShownTeam[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const { grants } = caller;
  const found = await app.reads.teams.batch(ids, [...grants.organizations.keys()]);
  return found.filter(({ team }) => isVisible(grants, team)).map(show(caller));
}

const membersOf = async (tx: Tx, team: Team) =>
  (await tx.teams.view(team.id, team.organizationId)).members;
