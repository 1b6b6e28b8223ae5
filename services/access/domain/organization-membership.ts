import { newId } from "@statehouse/postgres/ids";
import type { OrganizationId, OrganizationMembershipId, UserId } from "./ids.ts";

/** The status of a membership. An invited user has no rights in the organization until the user accepts. */
type MembershipStatus = "active" | "invited";

/** The membership of a user in an organization. */
export class OrganizationMembership {
  declare readonly id: OrganizationMembershipId;
  declare readonly organizationId: OrganizationId;
  declare readonly userId: UserId;
  declare status: MembershipStatus;
  declare readonly createdAt: Date;

  constructor(fields: OrganizationMembership) {
    Object.assign(this, fields);
  }
}

export const newOrganizationMembership = (
  fields: Omit<OrganizationMembership, "id">,
): OrganizationMembership => new OrganizationMembership({ ...fields, id: newId("ou") });

export const organizationMembershipInvited = (
  membership: OrganizationMembership,
  email: string,
  revision: bigint,
) => ({ type: "organizationMembershipInvited", revision, membership, email }) as const;

export const organizationMembershipActivated = (
  membership: OrganizationMembership,
  revision: bigint,
) => ({ type: "organizationMembershipActivated", revision, membership }) as const;

export const organizationMembershipDeleted = (
  membership: OrganizationMembership,
  revision: bigint,
) => ({ type: "organizationMembershipDeleted", revision, membership }) as const;

export type OrganizationMembershipEvent = ReturnType<
  | typeof organizationMembershipInvited
  | typeof organizationMembershipActivated
  | typeof organizationMembershipDeleted
>;
