import { invalid } from "@statehouse/errors";
import { newId } from "@statehouse/postgres";
import { invalidLevel, noSuchProject, teamProjectTaken } from "../domain/errors.ts";
import type { ProjectId, TeamId } from "../domain/ids.ts";
import { levelOf, TeamProject } from "../domain/team-project.ts";
import { bump } from "../domain/version.ts";
import type { App } from "./app.ts";

export interface CreateTeamProject {
  teamId: TeamId;
  projectId: ProjectId;
  access: string;
}

/**
 * Gives a team one of the fixed levels on a project of its organization. Throws `notFound` for either,
 * `invalid` for an unknown level and a team that has one already.
 */
export async function createTeamProject(
  app: App,
  { teamId, projectId, access }: CreateTeamProject,
): Promise<TeamProject> {
  const level = levelOf(access);
  if (!level) throw invalid([invalidLevel]);
  // Before the transaction: a slow neighbour must not hold the organization's row.
  const organizationId = await app.organizationOfProject(projectId);
  return app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    if (organization.id !== organizationId) throw noSuchProject();
    if (await tx.teamProjects.exists(teamId, projectId)) throw invalid([teamProjectTaken]);
    const at = app.now();
    const revision = bump(organization, at);
    const teamProject = new TeamProject({
      id: newId("tprj"),
      teamId,
      projectId,
      organizationId,
      access: level,
      createdAt: at,
    });
    await tx.teamProjects.add(teamProject);
    await tx.record({ type: "teamProjectCreated", teamProject, revision });
    return teamProject;
  });
}
