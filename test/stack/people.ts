import { randomBytes } from "node:crypto";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamAccessService } from "@statehouse/proto/statehouse/access/v1/team_access";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";

/** A user with an API token. */
export interface Person {
  id: string;
  username: string;
  token: string;
}

/**
 * Calls of tests to the access service, made as the service `testing`. Unlike requests to the HTTP API, they need no
 * user who has the required rights.
 */
export interface People {
  newUser(username?: string, options?: { administrator?: boolean }): Promise<Person>;
  newTeam(team: {
    organizationId: string;
    name: string;
    members: readonly Person[];
    organizationAccess?: readonly string[];
  }): Promise<{ id: string }>;
  addMember(teamId: string, person: Person): Promise<void>;
  removeMember(teamId: string, person: Person): Promise<void>;
  grant(grant: { teamId: string; projectId: string; access: string }): Promise<{ id: string }>;
}

/** Creates users through the channel to the access service. */
export function createPeople(access: Channel, testing: CallOptions): People {
  const users = createClient(UserService, access, testing);
  const tokens = createClient(TokenService, access, testing);
  const teams = createClient(TeamService, access, testing);
  const teamAccess = createClient(TeamAccessService, access, testing);
  return {
    async newUser(
      username = `user-${randomBytes(6).toString("hex")}`,
      { administrator = false } = {},
    ) {
      const email = `${username}@example.com`;
      const { user } = await users.createUser({ username, email, administrator });
      if (!user) throw new Error("access created no user");
      const { secret } = await tokens.createUserToken({ userId: user.id, description: "test" });
      return { id: user.id, username, token: secret };
    },
    async newTeam({ organizationId, name, members, organizationAccess = [] }) {
      const { team } = await teams.createTeam({
        organizationId,
        settings: {
          name,
          visibility: "secret",
          organizationAccess: Object.fromEntries(organizationAccess.map((one) => [one, true])),
        },
      });
      if (!team) throw new Error("access created no team");
      for (const { id } of members) await teams.addTeamMember({ teamId: team.id, userId: id });
      return { id: team.id };
    },
    async addMember(teamId, { id }) {
      await teams.addTeamMember({ teamId, userId: id });
    },
    async removeMember(teamId, { id }) {
      await teams.removeTeamMember({ teamId, userId: id });
    },
    async grant({ teamId, projectId, access: level }) {
      const created = await teamAccess.createTeamAccess({
        teamId,
        targetType: "project",
        targetId: projectId,
        access: level,
      });
      if (!created.teamAccess) throw new Error("access created no grant");
      return { id: created.teamAccess.id };
    },
  };
}
