import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TeamSchema, TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { batchGetTeams, createTeam } from "../app/team.ts";
import { addTeamMember, removeTeamMember } from "../app/team-member.ts";
import { readTeamId, readTeamIds, readUserId } from "../domain/ids.ts";
import type { CountedTeam } from "../domain/team.ts";
import type { Context } from "./context.ts";

export const teamService = (app: App): ServiceImpl<typeof TeamService, Context> => ({
  createTeam: async ({ organizationId, name, visibility, organizationAccess }) => ({
    team: teamToProto(
      await createTeam(app, { organizationId, name, visibility, organizationAccess }),
    ),
  }),

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

const teamToProto = ({ team, usersCount }: CountedTeam): MessageInitShape<typeof TeamSchema> => ({
  id: team.id,
  organizationId: team.organizationId,
  name: team.name,
  visibility: team.visibility,
  organizationAccess: team.organizationAccess,
  usersCount,
  createdAt: timestampFromDate(team.createdAt),
});
