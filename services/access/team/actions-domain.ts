import { type Action, allowed, type Grants } from "@statehouse/authorization";
import type { Team } from "./domain.ts";

/** The actions on a team, each with the organization-level action that the caller must be allowed to perform. */
const rules = {
  update: "organization:manage-teams",
  delete: "organization:manage-teams",
  "manage-members": "organization:manage-membership",
  "manage-access": "organization:manage-access",
  "manage-token": "organization:manage-teams",
} as const satisfies Record<string, Action>;

export type TeamAction = keyof typeof rules;
const teamActions = [
  "update",
  "delete",
  "manage-members",
  "manage-access",
  "manage-token",
] as const satisfies readonly TeamAction[];

type Subject = Pick<Team, "id" | "organizationId" | "owners" | "allowMemberTokenManagement">;

/**
 * Returns whether the principal is a member of the team, and the team allows its members to create and revoke its
 * tokens.
 */
const isTrustedMember = (grants: Grants, team: Subject): boolean =>
  team.allowMemberTokenManagement &&
  grants.principal.type === "user" &&
  (grants.organizations.get(team.organizationId)?.teamIds.includes(team.id) ?? false);

/**
 * Returns whether the grants allow the action. Only owners may change the owners team: a caller that can add members to
 * it or create its token would have every permission.
 */
export function teamAllows(grants: Grants, action: TeamAction, team: Subject): boolean {
  const { organizationId } = team;
  if (!allowed(grants, "organization:read", { organizationId })) return false;
  if (team.owners) return grants.organizations.get(organizationId)?.owner ?? false;
  if (action === "manage-token" && isTrustedMember(grants, team)) return true;
  return allowed(grants, rules[action], { organizationId });
}

/**
 * Returns the actions that a team's document shows as allowed. They never include the renaming or deletion of the
 * owners team.
 */
export const allowedTeamActions = (grants: Grants, team: Subject): (TeamAction | "rename")[] => {
  const held = teamActions.filter((action) => teamAllows(grants, action, team));
  if (team.owners) return held.filter((action) => action !== "delete");
  return held.includes("update") ? [...held, "rename"] : held;
};
