import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type {
  TeamSchema,
  TeamService,
  TeamSettings as TeamSettingsMessage,
} from "@statehouse/proto/statehouse/access/v1/team";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  batchGetTeams,
  createTeam,
  deleteTeam,
  getTeam,
  listTeams,
  type ShownTeam,
  updateTeam,
} from "../app/team.ts";
import {
  addTeamMember,
  addTeamMembers,
  removeTeamMember,
  removeTeamMembers,
} from "../app/team-member.ts";
import { readTeamId, readTeamIds, readUserId } from "../domain/ids.ts";
import type { TeamSettings } from "../domain/team.ts";
import type { Context } from "./context.ts";

export const teamService = (app: App): ServiceImpl<typeof TeamService, Context> => ({
  createTeam: async ({ organizationId, settings }, { caller }) => ({
    team: teamToProto(await createTeam(app, caller, { ...settingsOf(settings), organizationId })),
  }),

  getTeam: async ({ id }, { caller }) => ({
    team: teamToProto(await getTeam(app, caller, readTeamId(id))),
  }),

  listTeams: async ({ organizationId, query, names, ...page }, { caller }) => {
    const { teams, total } = await listTeams(app, caller, {
      organizationId,
      query,
      names,
      page: pageOf(page),
    });
    return { teams: teams.map(teamToProto), totalCount: total };
  },

  updateTeam: async ({ id, settings }, { caller }) => ({
    team: teamToProto(
      await updateTeam(app, caller, { ...settingsOf(settings), id: readTeamId(id) }),
    ),
  }),

  deleteTeam: async ({ id }, { caller }) => {
    await deleteTeam(app, caller, readTeamId(id));
    return {};
  },

  addTeamMembers: async ({ teamId, users, organizationMembershipIds }, { caller }) => {
    await addTeamMembers(app, caller, {
      teamId: readTeamId(teamId),
      users,
      membershipIds: organizationMembershipIds,
    });
    return {};
  },

  removeTeamMembers: async ({ teamId, users, organizationMembershipIds }, { caller }) => {
    await removeTeamMembers(app, caller, {
      teamId: readTeamId(teamId),
      users,
      membershipIds: organizationMembershipIds,
    });
    return {};
  },

  addTeamMember: async ({ teamId, userId }) => {
    await addTeamMember(app, { teamId: readTeamId(teamId), userId: readUserId(userId) });
    return {};
  },

  removeTeamMember: async ({ teamId, userId }) => {
    await removeTeamMember(app, { teamId: readTeamId(teamId), userId: readUserId(userId) });
    return {};
  },

  batchGetTeams: async ({ ids }, { caller }) => ({
    teams: (await batchGetTeams(app, caller, readTeamIds(ids))).map(teamToProto),
  }),
});

const settingsOf = (settings: TeamSettingsMessage | undefined): TeamSettings => ({
  name: settings?.name,
  visibility: settings?.visibility,
  organizationAccess: settings?.organizationAccess ?? {},
  ssoTeamId: settings?.ssoTeamId,
  allowMemberTokenManagement: settings?.allowMemberTokenManagement,
});

const teamToProto = ({
  team,
  members,
  allowedActions,
}: ShownTeam): MessageInitShape<typeof TeamSchema> => ({
  id: team.id,
  organizationId: team.organizationId,
  name: team.name,
  visibility: team.visibility,
  organizationAccess: team.organizationAccess,
  usersCount: members.length,
  createdAt: timestampFromDate(team.createdAt),
  allowMemberTokenManagement: team.allowMemberTokenManagement,
  owners: team.owners,
  members,
  allowedActions,
  ...(team.ssoTeamId === null ? {} : { ssoTeamId: team.ssoTeamId }),
});
