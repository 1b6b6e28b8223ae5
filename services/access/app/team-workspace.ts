import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { newId, type PageInput } from "@statehouse/postgres";
import { noSuchTeam, noSuchTeamAccess, teamHasAccess, throwIfAny } from "../domain/errors.ts";
import type { TeamId, TeamWorkspaceId, WorkspaceId } from "../domain/ids.ts";
import { checkedGrant, effectivePermissions } from "../domain/permissions.ts";
import { TeamWorkspace, teamWorkspaceTable } from "../domain/team-workspace.ts";
import { bump } from "../domain/version.ts";
import type { VisibleTeams } from "../store/team-access.ts";
import type { Tx } from "../store/transaction.ts";
import type { App, Placement } from "./app.ts";
import { authorizeUser, requireSightOfUser } from "./caller.ts";
import { forgetIfGone } from "./grant-target.ts";

/** A grant with what its level implies, or its custom permissions. */
export type ShownTeamWorkspace = TeamWorkspace & { effective: Record<string, unknown> };

const show = (teamWorkspace: TeamWorkspace): ShownTeamWorkspace => ({
  ...teamWorkspace,
  effective: effectivePermissions(teamWorkspaceTable, teamWorkspace),
});

/** Whose grants on a workspace the caller sees: its administrators all of them, everybody their own. */
function visibleTeams(caller: Caller, placement: Placement): VisibleTeams {
  const grants = grantsOf(caller);
  if (allowed(grants, "workspace:manage-teams", placement)) return { all: true };
  const { teamIds = [] } = grants.organizations.get(placement.organizationId) ?? {};
  return { all: false, teamIds, open: false };
}

/**
 * Gives a team access to a workspace of its organization. Throws `notFound` for either and for whoever does
 * not administer the workspace, `invalid` for what is no permission, and for a team that has access already.
 */
export async function createTeamWorkspace(
  app: App,
  caller: Caller,
  wanted: {
    teamId: TeamId;
    workspaceId: WorkspaceId;
    access: string;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<ShownTeamWorkspace> {
  const { teamId, workspaceId } = wanted;
  // Before the transaction: a slow neighbour must not hold the organization's row.
  const placement = await app.placementOfWorkspace(workspaceId);
  const { organizationId } = placement;
  authorizeUser(caller, "workspace:manage-teams", placement);
  const made = await app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    const team = await tx.teams.get(teamId);
    if (team.organizationId !== organizationId) throw noSuchTeam();
    const { problems, ...grant } = checkedGrant(teamWorkspaceTable, wanted);
    if (await tx.teamWorkspaces.exists({ teamId, workspaceId })) problems.push(teamHasAccess);
    throwIfAny(problems);
    const at = app.now();
    const revision = bump(organization, at);
    const teamWorkspace = new TeamWorkspace({
      id: newId("tws"),
      teamId,
      workspaceId,
      organizationId,
      ...grant,
      createdAt: at,
    });
    await tx.teamWorkspaces.add(teamWorkspace);
    await tx.record({ type: "teamWorkspaceCreated", teamWorkspace, revision });
    return show(teamWorkspace);
  });
  await forgetIfGone(
    () => app.placementOfWorkspace(workspaceId),
    () => app.reads.teamAccess.forgetWorkspace(workspaceId),
  );
  return made;
}

/** Throws `notFound` unless the caller sees it. */
export async function getTeamWorkspace(
  app: App,
  caller: Caller,
  id: TeamWorkspaceId,
): Promise<ShownTeamWorkspace> {
  const found = await app.reads.teamAccess.workspace(id);
  if (!found) throw noSuchTeamAccess();
  const { visibility: _, ...teamWorkspace } = found;
  const placement = await app.placementOfWorkspace(found.workspaceId);
  authorize(caller, "workspace:read", placement, "team access");
  const teams = visibleTeams(caller, placement);
  if (!teams.all && !teams.teamIds.includes(found.teamId)) throw noSuchTeamAccess();
  return show(teamWorkspace);
}

/** Those on a workspace that the caller sees. Throws `notFound` for a workspace that it may not read. */
export async function listTeamWorkspaces(
  app: App,
  caller: Caller,
  { workspaceId, page }: { workspaceId: WorkspaceId; page: PageInput },
): Promise<{ teamWorkspaces: ShownTeamWorkspace[]; total: number }> {
  const placement = await app.placementOfWorkspace(workspaceId);
  authorize(caller, "workspace:read", placement);
  const teams = visibleTeams(caller, placement);
  const { teamWorkspaces, total } = await app.reads.teamAccess.ofWorkspace(
    workspaceId,
    teams,
    page,
  );
  return { teamWorkspaces: teamWorkspaces.map(show), total };
}

/** Changes level and permissions. Throws `notFound` for whoever does not administer the workspace, `invalid`. */
export const updateTeamWorkspace = (
  app: App,
  caller: Caller,
  wanted: {
    id: TeamWorkspaceId;
    access: string | undefined;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<ShownTeamWorkspace> =>
  changeTeamWorkspace(app, caller, wanted.id, async (tx, teamWorkspace, revision) => {
    const { problems, ...grant } = checkedGrant(
      teamWorkspaceTable,
      { access: wanted.access ?? teamWorkspace.access, permissions: wanted.permissions },
      teamWorkspace,
    );
    throwIfAny(problems);
    Object.assign(teamWorkspace, grant);
    await tx.teamWorkspaces.save(teamWorkspace);
    await tx.record({ type: "teamWorkspaceUpdated", teamWorkspace, revision });
    return show(teamWorkspace);
  });

/** Takes the access away. Throws `notFound` for whoever does not administer the workspace. */
export const deleteTeamWorkspace = (app: App, caller: Caller, id: TeamWorkspaceId): Promise<void> =>
  changeTeamWorkspace(app, caller, id, async (tx, teamWorkspace, revision) => {
    await tx.teamWorkspaces.delete(teamWorkspace);
    await tx.record({ type: "teamWorkspaceDeleted", teamWorkspace, revision });
  });

const changeTeamWorkspace = async <Result>(
  app: App,
  caller: Caller,
  id: TeamWorkspaceId,
  change: (tx: Tx, teamWorkspace: TeamWorkspace, revision: bigint) => Promise<Result>,
): Promise<Result> => {
  // Its organization never changes; which it is tells what to lock first.
  const known = await app.reads.teamAccess.workspace(id);
  if (!known) throw noSuchTeamAccess();
  // Before the transaction, as above: the workspace may have moved to another project.
  const placement = await app.placementOfWorkspace(known.workspaceId);
  return app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(known.organizationId);
    const teamWorkspace = await tx.teamWorkspaces.getForUpdate(id);
    // Whose access there is, not everybody sees who reads the workspace.
    requireSightOfUser(caller, "workspace:manage-teams", placement, "team access");
    return change(tx, teamWorkspace, bump(organization, app.now()));
  });
};
