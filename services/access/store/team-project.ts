import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { ProjectId, TeamId } from "../domain/ids.ts";
import type { TeamProject } from "../domain/team-project.ts";
import { teamProjectSchema } from "./entities.ts";

/** Grants on projects inside a transaction that holds their organization's row. */
export const teamProjectRows = (em: EntityManager) => ({
  async exists(teamId: TeamId, projectId: ProjectId): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: team_projects_team_id_project_id_key
      "select from team_projects where team_id = $1 and project_id = $2",
      [teamId, projectId],
    );
    return rows.length > 0;
  },

  async add(teamProject: TeamProject): Promise<void> {
    await em.insert(teamProjectSchema, { ...teamProject });
  },
});
