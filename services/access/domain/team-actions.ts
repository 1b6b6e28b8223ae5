import { type Action, allowed, type Grants } from "@statehouse/authorization";
import type { Team } from "./team.ts";

/** What can be done to a team, and the organization-level action that allows it. */
const rules = {
  update: "organization:manage-teams",
  delete: "organization:manage-teams",
  "manage-members": "organization:manage-membership",
  "manage-access": "organization:manage-access",
  "manage-token": "organization:manage-teams",
} as const satisfies Record<string, Action>;

export type TeamAction = keyof typeof rules;
const teamActions = Object.keys(rules) as TeamAction[];

type Subject = Pick<Team, "id" | "organizationId" | "owners" | "allowMemberTokenManagement">;

/** Whether the team's members may make and revoke its tokens themselves, and this is one of them. */
const isTrustedMember = (grants: Grants, team: Subject): boolean =>
  team.allowMemberTokenManagement &&
  grants.principal.type === "user" &&
  (grants.organizations.get(team.organizationId)?.teamIds.includes(team.id) ?? false);

/**
 * Whether the grants allow it. Only owners touch the team of owners: whoever could put people into it, or
 * make a token of it, would hold everything.
 */
export function teamAllows(grants: Grants, action: TeamAction, team: Subject): boolean {
  const { organizationId } = team;
  if (!allowed(grants, "organization:read", { organizationId })) return false;
  if (team.owners) return grants.organizations.get(organizationId)?.owner ?? false;
  if (action === "manage-token" && isTrustedMember(grants, team)) return true;
  return allowed(grants, rules[action], { organizationId });
}

/** What a team's document says that the grants allow. The team of owners keeps its name and is never deleted. */
export const shownTeamActions = (grants: Grants, team: Subject): (TeamAction | "rename")[] => {
  const held = teamActions.filter((action) => teamAllows(grants, action, team));
  if (team.owners) return held.filter((action) => action !== "delete");
  return held.includes("update") ? [...held, "rename"] : held;
};
