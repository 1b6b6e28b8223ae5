import type { OrganizationId, OrganizationMembershipId, UserId } from "./ids.ts";

/** `invited`: gives nothing until the user accepts. */
type MembershipStatus = "active" | "invited";

/** A user in an organization. */
export class OrganizationMembership {
  declare readonly id: OrganizationMembershipId;
  declare readonly organizationId: OrganizationId;
  declare readonly userId: UserId;
  declare status: MembershipStatus;
  declare readonly createdAt: Date;

  constructor(values: OrganizationMembership) {
    Object.assign(this, values);
  }
}
