import type { OrganizationId, OrganizationMembershipId, UserId } from "./ids.ts";

/** `invited`: gives nothing until the user accepts. */
export const membershipStatuses = ["active", "invited"] as const;
export type MembershipStatus = (typeof membershipStatuses)[number];

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

/** The status of that name; undefined also for the empty one, which is any. */
export const membershipStatusOf = (name: string): MembershipStatus | undefined =>
  membershipStatuses.find((status) => status === name);
