import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type {
  TeamWorkspaceSchema,
  TeamWorkspaceService,
} from "@statehouse/proto/statehouse/access/v1/team_workspace";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  createTeamWorkspace,
  deleteTeamWorkspace,
  getTeamWorkspace,
  listTeamWorkspaces,
  type ShownTeamWorkspace,
  updateTeamWorkspace,
} from "../app/team-workspace.ts";
import { readTeamId, readTeamWorkspaceId, readWorkspaceId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const teamWorkspaceService = (
  app: App,
): ServiceImpl<typeof TeamWorkspaceService, Context> => ({
  createTeamWorkspace: async ({ teamId, workspaceId, access, permissions = {} }, { caller }) => ({
    teamWorkspace: toProto(
      await createTeamWorkspace(app, caller, {
        teamId: readTeamId(teamId),
        workspaceId: readWorkspaceId(workspaceId),
        access,
        permissions,
      }),
    ),
  }),

  getTeamWorkspace: async ({ id }, { caller }) => ({
    teamWorkspace: toProto(await getTeamWorkspace(app, caller, readTeamWorkspaceId(id))),
  }),

  listTeamWorkspaces: async ({ workspaceId, ...page }, { caller }) => {
    const { teamWorkspaces, total } = await listTeamWorkspaces(app, caller, {
      workspaceId: readWorkspaceId(workspaceId),
      page: pageOf(page),
    });
    return { teamWorkspaces: teamWorkspaces.map(toProto), totalCount: total };
  },

  updateTeamWorkspace: async ({ id, access, permissions = {} }, { caller }) => ({
    teamWorkspace: toProto(
      await updateTeamWorkspace(app, caller, { id: readTeamWorkspaceId(id), access, permissions }),
    ),
  }),

  deleteTeamWorkspace: async ({ id }, { caller }) => {
    await deleteTeamWorkspace(app, caller, readTeamWorkspaceId(id));
    return {};
  },
});

const toProto = (of: ShownTeamWorkspace): MessageInitShape<typeof TeamWorkspaceSchema> => ({
  id: of.id,
  teamId: of.teamId,
  workspaceId: of.workspaceId,
  organizationId: of.organizationId,
  access: of.access,
  // Texts and booleans only.
  permissions: of.effective as JsonObject,
  createdAt: timestampFromDate(of.createdAt),
});
