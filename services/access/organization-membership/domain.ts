import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, OrganizationMembershipId, UserId } from "../ids-domain.ts";

/** The status of a membership. An invited user has no rights in the organization until the user accepts. */
type MembershipStatus = "active" | "invited";

/** The membership of a user in an organization. */
export class OrganizationMembership {
  declare readonly id: OrganizationMembershipId;
  declare readonly organizationId: OrganizationId;
  /**
   * Changes only if the invited user is a placeholder: when another user proves that they own the invited address, or
   * when an administrator or operator sets it as another user's address.
   */
  declare userId: UserId;
  declare status: MembershipStatus;
  /**
   * The hash of the secret that only the invitation's mail contains. Null if there was no invitation, or if it was
   * accepted.
   */
  declare secretHash: string | null;
  declare readonly createdAt: Date;
}

export const newOrganizationMembership = (
  fields: Omit<OrganizationMembership, "id" | "secretHash">,
  secretHash: string | null = null,
): OrganizationMembership =>
  newRow(OrganizationMembership, { ...fields, secretHash, id: newId("ou") });

/** The order of a list of memberships, which can only be sorted by status. */
export interface OrganizationMembershipSort {
  descending: boolean;
}

/** Parses the order of a list; a leading `-` means descending. Returns undefined for an unknown order. */
export const organizationMembershipSortOf = (
  text: string,
): OrganizationMembershipSort | undefined =>
  /^-?status$/.test(text) ? { descending: text.startsWith("-") } : undefined;
