import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type {
  TeamProjectSchema,
  TeamProjectService,
} from "@statehouse/proto/statehouse/access/v1/team_project";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  createTeamProject,
  deleteTeamProject,
  getTeamProject,
  listTeamProjects,
  type ShownTeamProject,
  updateTeamProject,
} from "../app/team-project.ts";
import { readTeamId, readTeamProjectId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const teamProjectService = (app: App): ServiceImpl<typeof TeamProjectService, Context> => ({
  createTeamProject: async ({ teamId, projectId, access, permissions = {} }, { caller }) => ({
    teamProject: toProto(
      await createTeamProject(app, caller, {
        teamId: readTeamId(teamId),
        projectId,
        access,
        permissions,
      }),
    ),
  }),

  getTeamProject: async ({ id }, { caller }) => ({
    teamProject: toProto(await getTeamProject(app, caller, readTeamProjectId(id))),
  }),

  listTeamProjects: async ({ projectId, ...page }, { caller }) => {
    const { teamProjects, total } = await listTeamProjects(app, caller, {
      projectId,
      page: pageOf(page),
    });
    return { teamProjects: teamProjects.map(toProto), totalCount: total };
  },

  updateTeamProject: async ({ id, access, permissions = {} }, { caller }) => ({
    teamProject: toProto(
      await updateTeamProject(app, caller, { id: readTeamProjectId(id), access, permissions }),
    ),
  }),

  deleteTeamProject: async ({ id }, { caller }) => {
    await deleteTeamProject(app, caller, readTeamProjectId(id));
    return {};
  },
});

const toProto = (of: ShownTeamProject): MessageInitShape<typeof TeamProjectSchema> => ({
  id: of.id,
  teamId: of.teamId,
  projectId: of.projectId,
  organizationId: of.organizationId,
  access: of.access,
  // Texts and booleans only.
  permissions: of.effective as JsonObject,
  createdAt: timestampFromDate(of.createdAt),
});
