import type { OrganizationMembership } from "./organization-membership.ts";
import type { Run, RunToken } from "./run-token.ts";
import type { Team } from "./team.ts";
import type { TeamAccess } from "./team-access.ts";
import type { TeamMember } from "./team-member.ts";
import type { Token } from "./token.ts";
import type { User } from "./user.ts";

/** What each event is about, by type. */
export interface AccessEvents {
  userCreated: { user: User };
  userUpdated: { user: User };
  tokenCreated: { token: Token };
  tokenDeleted: { token: Token };
  runTokenCreated: { token: RunToken; run: Run };
  runTokenRenewed: { token: RunToken; run: Run };
  runTokenDeleted: { token: RunToken; run: Run };
  teamCreated: { team: Team };
  teamUpdated: { team: Team };
  teamDeleted: { team: Team };
  teamMemberAdded: { member: TeamMember };
  teamMemberRemoved: { member: TeamMember };
  teamAccessCreated: { teamAccess: TeamAccess };
  teamAccessUpdated: { teamAccess: TeamAccess };
  teamAccessDeleted: { teamAccess: TeamAccess };
  organizationMembershipInvited: { membership: OrganizationMembership; email: string };
  organizationMembershipActivated: { membership: OrganizationMembership };
  organizationMembershipDeleted: { membership: OrganizationMembership };
}

/** What happened. `revision` orders the events of one subject. */
export type AccessEvent = {
  [Type in keyof AccessEvents]: { type: Type; revision: bigint } & AccessEvents[Type];
}[keyof AccessEvents];
