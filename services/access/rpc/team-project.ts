import type { TeamProjectService } from "@statehouse/proto/statehouse/access/v1/team_project";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { createTeamProject } from "../app/team-project.ts";
import { readTeamId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const teamProjectService = (app: App): ServiceImpl<typeof TeamProjectService, Context> => ({
  createTeamProject: async ({ teamId, projectId, access }) => {
    const teamProject = await createTeamProject(app, {
      teamId: readTeamId(teamId),
      projectId,
      access,
    });
    const { id, organizationId } = teamProject;
    return { teamProject: { id, teamId, projectId, organizationId, access } };
  },
});
