import type { Team } from "@statehouse/proto/statehouse/access/v1/team";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/** What a team may do in its whole organization; a team's document says yes or no to each. */
const organizationAccess = [
  "manage-policies",
  "manage-workspaces",
  "manage-vcs-settings",
  "manage-policy-overrides",
  "delegate-policy-overrides",
  "manage-modules",
  "manage-providers",
  "manage-run-tasks",
  "manage-projects",
  "manage-membership",
  "manage-teams",
  "manage-organization-access",
  "access-secret-teams",
  "read-projects",
  "read-workspaces",
  "manage-agent-pools",
] as const;

export const teamResource = resource<Team, RequestContext>({
  type: "teams",
  id: ({ id }) => id,
  attributes: (team) => ({
    name: team.name,
    "users-count": team.usersCount,
    visibility: team.visibility,
    "sso-team-id": null,
    "organization-access": Object.fromEntries(
      organizationAccess.map((name) => [name, team.organizationAccess.includes(name)]),
    ),
  }),
  links: ({ id }) => ({ self: `/api/v2/teams/${id}` }),
  loadMany: async (ids, { services, caller }) =>
    (await services.access.teams.batchGetTeams({ ids: [...ids] }, caller)).teams,
});
