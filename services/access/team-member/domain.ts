import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, TeamId, UserId } from "../ids-domain.ts";
import type { Team } from "../team/domain.ts";

/**
 * The membership of a user in a team. It has no effect until the user has accepted the membership of the organization.
 */
export class TeamMember {
  declare readonly teamId: TeamId;
  declare readonly userId: UserId;
  /** The organization of the team. It is stored here too, so that one index finds the organizations of a user. */
  declare readonly organizationId: OrganizationId;
  declare readonly createdAt: Date;
}

export const newTeamMember = (
  { id: teamId, organizationId }: Pick<Team, "id" | "organizationId">,
  userId: UserId,
  createdAt: Date,
): TeamMember => newRow(TeamMember, { teamId, userId, organizationId, createdAt });
