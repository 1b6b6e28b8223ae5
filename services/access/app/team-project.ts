import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { newId, type PageInput } from "@statehouse/postgres";
import { noSuchTeam, noSuchTeamAccess, teamHasAccess, throwIfAny } from "../domain/errors.ts";
import type { OrganizationId, ProjectId, TeamId, TeamProjectId } from "../domain/ids.ts";
import { checkedGrant, effectivePermissions } from "../domain/permissions.ts";
import { TeamProject, teamProjectTable } from "../domain/team-project.ts";
import { bump } from "../domain/version.ts";
import type { VisibleTeams } from "../store/team-access.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { authorizeUser, requireSightOfUser } from "./caller.ts";
import { forgetIfGone } from "./grant-target.ts";

/** A grant with what its level implies, or its custom permissions. */
export type ShownTeamProject = TeamProject & { effective: Record<string, unknown> };

const show = (teamProject: TeamProject): ShownTeamProject => ({
  ...teamProject,
  effective: effectivePermissions(teamProjectTable, teamProject),
});

interface ProjectTarget {
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/**
 * Whose grants on a project the caller sees: owners and project admins all of them; who may read the
 * project's teams those of the teams that are not secret; everybody their own. Specification, "Authentication", rule 10.
 */
function visibleTeams(caller: Caller, target: ProjectTarget): VisibleTeams {
  const grants = grantsOf(caller);
  if (allowed(grants, "project:manage-teams", target)) return { all: true };
  const { teamIds = [] } = grants.organizations.get(target.organizationId) ?? {};
  return { all: false, teamIds, open: allowed(grants, "project:read-teams", target) };
}

/**
 * Gives a team access to a project of its organization. Throws `notFound` for either and for whoever may
 * not manage the project's teams, `invalid` for what is no permission, and for a team that has access already.
 */
export async function createTeamProject(
  app: App,
  caller: Caller,
  wanted: {
    teamId: TeamId;
    projectId: ProjectId;
    access: string;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<ShownTeamProject> {
  const { teamId, projectId } = wanted;
  // Before the transaction: a slow neighbour must not hold the organization's row.
  const organizationId = await app.organizationOfProject(projectId);
  authorizeUser(caller, "project:manage-teams", { organizationId, projectId });
  const made = await app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    const team = await tx.teams.get(teamId);
    if (team.organizationId !== organizationId) throw noSuchTeam();
    const { problems, ...grant } = checkedGrant(teamProjectTable, wanted);
    if (await tx.teamProjects.exists({ teamId, projectId })) problems.push(teamHasAccess);
    throwIfAny(problems);
    const at = app.now();
    const revision = bump(organization, at);
    const teamProject = new TeamProject({
      id: newId("tprj"),
      teamId,
      projectId,
      organizationId,
      ...grant,
      createdAt: at,
    });
    await tx.teamProjects.add(teamProject);
    await tx.record({ type: "teamProjectCreated", teamProject, revision });
    return show(teamProject);
  });
  await forgetIfGone(
    () => app.organizationOfProject(projectId),
    () => app.reads.teamAccess.forgetProject(projectId),
  );
  return made;
}

/** Throws `notFound` unless the caller sees it. */
export async function getTeamProject(
  app: App,
  caller: Caller,
  id: TeamProjectId,
): Promise<ShownTeamProject> {
  const found = await app.reads.teamAccess.project(id);
  if (!found) throw noSuchTeamAccess();
  const { visibility, ...teamProject } = found;
  authorize(caller, "project:read", teamProject, "team access");
  const teams = visibleTeams(caller, teamProject);
  const sees =
    teams.all ||
    teams.teamIds.includes(teamProject.teamId) ||
    (teams.open && visibility === "organization");
  if (!sees) throw noSuchTeamAccess();
  return show(teamProject);
}

/** Those on a project that the caller sees. Throws `notFound` for a project that it may not read. */
export async function listTeamProjects(
  app: App,
  caller: Caller,
  { projectId, page }: { projectId: ProjectId; page: PageInput },
): Promise<{ teamProjects: ShownTeamProject[]; total: number }> {
  const target = { organizationId: await app.organizationOfProject(projectId), projectId };
  authorize(caller, "project:read", target);
  const teams = visibleTeams(caller, target);
  const { teamProjects, total } = await app.reads.teamAccess.ofProject(projectId, teams, page);
  return { teamProjects: teamProjects.map(show), total };
}

/** Changes level and permissions. Throws `notFound` for whoever may not manage the project's teams, `invalid`. */
export const updateTeamProject = (
  app: App,
  caller: Caller,
  wanted: {
    id: TeamProjectId;
    access: string | undefined;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<ShownTeamProject> =>
  changeTeamProject(app, caller, wanted.id, async (tx, teamProject, revision) => {
    const { problems, ...grant } = checkedGrant(
      teamProjectTable,
      { access: wanted.access ?? teamProject.access, permissions: wanted.permissions },
      teamProject,
    );
    throwIfAny(problems);
    Object.assign(teamProject, grant);
    await tx.teamProjects.save(teamProject);
    await tx.record({ type: "teamProjectUpdated", teamProject, revision });
    return show(teamProject);
  });

/** Takes the access away. Throws `notFound` for whoever may not manage the project's teams. */
export const deleteTeamProject = (app: App, caller: Caller, id: TeamProjectId): Promise<void> =>
  changeTeamProject(app, caller, id, async (tx, teamProject, revision) => {
    await tx.teamProjects.delete(teamProject);
    await tx.record({ type: "teamProjectDeleted", teamProject, revision });
  });

const changeTeamProject = async <Result>(
  app: App,
  caller: Caller,
  id: TeamProjectId,
  change: (tx: Tx, teamProject: TeamProject, revision: bigint) => Promise<Result>,
): Promise<Result> => {
  // Its organization never changes; which it is tells what to lock first.
  const known = await app.reads.teamAccess.project(id);
  if (!known) throw noSuchTeamAccess();
  return app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(known.organizationId);
    const teamProject = await tx.teamProjects.getForUpdate(id);
    // Whose access there is, not everybody sees who reads the project.
    requireSightOfUser(caller, "project:manage-teams", teamProject, "team access");
    return change(tx, teamProject, bump(organization, app.now()));
  });
};
