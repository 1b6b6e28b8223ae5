import { lastOwner } from "./errors.ts";
import type { OrganizationId, TeamId, UserId } from "./ids.ts";
import type { Team } from "./team.ts";

/** A user in a team. */
export class TeamMember {
  declare readonly teamId: TeamId;
  declare readonly userId: UserId;
  /** The team's; here too, so that a user's organizations are one index away. */
  declare readonly organizationId: OrganizationId;
  declare readonly createdAt: Date;

  constructor(values: TeamMember) {
    Object.assign(this, values);
  }
}

/** Throws the conflict `last_owner` when the team may not lose another of its `count` members. */
export function refuseLastOwner({ owners }: Pick<Team, "owners">, count: number): void {
  if (owners && count <= 1) throw lastOwner();
}
