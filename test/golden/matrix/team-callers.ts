import {
  giveRole,
  grantsByRole,
  newRoleHolder,
  type RoleTarget,
  type TeamRole,
  teamRole,
  teamRoles,
} from "../../stack/roles.ts";
import { recordedApi } from "../../system/fixture.ts";
import type { Role } from "./caller.ts";
import { newToken } from "./token.ts";

const ofTeam = (role: TeamRole): Role => ({
  name: role.name,
  cast: async (fixture, target) => {
    const holder = await newRoleHolder(fixture, role, target);
    const places: RoleTarget[] = [target];
    return {
      name: role.name,
      type: "user",
      token: holder.person.token,
      api: recordedApi(fixture.stack.url, holder.person.token),
      userId: holder.person.id,
      username: holder.person.username,
      teamId: holder.teamId,
      roleGrants: holder,
      grants: () => grantsByRole(holder, fixture.organizationId, places),
      give: async (further) => {
        await giveRole(fixture, holder, further);
        places.push(further);
      },
    };
  },
});

/** Returns a role with the same grants, but whose caller is a token of the team instead of a member. */
export const asTeamToken = (role: Role): Role => ({
  name: `team token: ${role.name}`,
  cast: async (fixture, target) => {
    const { teamId = "", ...member } = await role.cast(fixture, target);
    const { userId: _, username: __, ...held } = member;
    const { token, api } = await newToken(fixture, `/teams/${teamId}/authentication-tokens`);
    const principal = { type: "team", id: teamId } as const;
    return {
      ...held,
      name: `team token: ${role.name}`,
      type: "team",
      token,
      api,
      teamId,
      grants: () => ({ ...member.grants(), principal }),
    };
  },
});

/** The roles of callers that are members of a single team: one for each role that a team can have. */
export const byTeam = teamRoles.map(ofTeam);

/** Returns the role of a caller that is a member of a single team, where the team has the team role `name`. */
export const held = (name: string): Role => ofTeam(teamRole(name));
