import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { idsIn } from "@statehouse/postgres/ids";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  TeamSchema,
  TeamService,
  TeamSettings as TeamSettingsMessage,
} from "@statehouse/proto/statehouse/access/v1/team";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { organizationId, teamId, userId } from "../ids-rpc.ts";
import {
  addTeamMember,
  addTeamMembers,
  removeTeamMember,
  removeTeamMembers,
} from "../team-member/app.ts";
import {
  batchGetTeams,
  createTeam,
  deleteTeam,
  getTeam,
  listTeams,
  type TeamWithAllowedActions,
  updateTeam,
} from "./app.ts";
import type { TeamSettings } from "./domain.ts";

export const teamService = (app: App): ServiceImpl<typeof TeamService> => ({
  createTeam: async ({ settings, ...request }, { caller }) => ({
    team: teamToProto(
      await createTeam(app, caller, {
        ...settingsOf(settings),
        organizationId: organizationId(request.organizationId),
      }),
    ),
  }),

  getTeam: async ({ id }, { caller }) => ({
    team: teamToProto(await getTeam(app, caller, teamId(id))),
  }),

  listTeams: async ({ query, names, ...request }, { caller }) => {
    const { rows, total } = await listTeams(app, caller, {
      organizationId: organizationId(request.organizationId),
      query,
      names,
      page: pageOf(request),
    });
    return { teams: rows.map(teamToProto), totalCount: total };
  },

  updateTeam: async ({ id, settings }, { caller }) => ({
    team: teamToProto(await updateTeam(app, caller, { ...settingsOf(settings), id: teamId(id) })),
  }),

  deleteTeam: ({ id }, { caller }) => deleteTeam(app, caller, teamId(id)),

  addTeamMembers: (request, { caller }) =>
    addTeamMembers(app, caller, { ...request, teamId: teamId(request.teamId) }),

  removeTeamMembers: (request, { caller }) =>
    removeTeamMembers(app, caller, { ...request, teamId: teamId(request.teamId) }),

  addTeamMember: (request) =>
    addTeamMember(app, { teamId: teamId(request.teamId), userId: userId(request.userId) }),

  removeTeamMember: (request) =>
    removeTeamMember(app, { teamId: teamId(request.teamId), userId: userId(request.userId) }),

  batchGetTeams: async ({ ids }, { caller }) => ({
    teams: (await batchGetTeams(app, caller, idsIn("team", ids))).map(teamToProto),
  }),
});

const settingsOf = (settings: TeamSettingsMessage | undefined): TeamSettings => ({
  name: settings?.name,
  visibility: settings?.visibility,
  organizationAccess: settings?.organizationAccess ?? {},
  description: settings?.description,
  ssoTeamId: settings?.ssoTeamId,
  allowMemberTokenManagement: settings?.allowMemberTokenManagement,
});

const teamToProto = ({
  createdAt,
  description,
  ssoTeamId,
  ...team
}: TeamWithAllowedActions): MessageInitShape<typeof TeamSchema> => ({
  ...team,
  usersCount: team.members.length,
  createdAt: timestampFromDate(createdAt),
  description: description ?? undefined,
  ssoTeamId: ssoTeamId ?? undefined,
});
