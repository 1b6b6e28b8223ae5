import type { OrganizationId, TeamId, UserId } from "./ids.ts";

/** A user in a team; it counts once the user belongs to the organization. */
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
