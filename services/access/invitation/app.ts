import type { Caller } from "@statehouse/authorization";
import { asRefusal } from "@statehouse/errors";
import type { App } from "../app.ts";
import { callingUser } from "../caller-app.ts";
import { addressInvitedMeanwhile, organizationMembershipNotFound } from "../errors-domain.ts";
import type { OrganizationId, OrganizationMembershipId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import type { Organization } from "../organization/domain.ts";
import type { OrganizationMembership } from "../organization-membership/domain.ts";
import { organizationMembershipDeleted } from "../organization-membership/store.ts";
import { newTeamMember } from "../team-member/domain.ts";
import { teamMemberAdded, teamMemberRemoved } from "../team-member/store.ts";
import { hashOf } from "../token/secret-domain.ts";
import { confirmEmail, isSameEmail, type User } from "../user/domain.ts";
import { userUpdated } from "../user/store.ts";
import { touch } from "../version-domain.ts";

/**
 * Transfers to the calling user all invitations of the e-mail address to which the invitation `id` was sent, and
 * confirms the address. The address must be the caller's unconfirmed address, and `secret` must be the secret of that
 * invitation: it proves that the caller owns the address. Changes nothing if the invitation is already the caller's.
 * Does not accept the invitations. Returns the id of the caller's membership in the organization of that invitation.
 * Throws `addressInvitedMeanwhile` if the address receives another invitation during this call. Throws `notFound` in
 * all other cases in which the claim fails, because the response must not reveal why.
 */
export async function claimInvitations(
  app: App,
  caller: Caller,
  { id, secret }: { id: OrganizationMembershipId; secret: string },
): Promise<OrganizationMembershipId> {
  const self = callingUser(caller);
  if (self === undefined) throw organizationMembershipNotFound();
  return app.transaction(async (tx) => {
    // The user can change until the membership is locked.
    const { userId: invitedId } = await tx.memberships.get(id);
    if (invitedId === self) return id;
    const organizations = await tx.organizations.ofUserForUpdate(invitedId);
    const membership = await tx.memberships.getForUpdate(id);
    const invited = await tx.users.getForUpdate(invitedId);
    const user = await tx.users.getForUpdate(self);
    const isProven =
      membership.userId === invitedId &&
      invited.placeholder &&
      membership.secretHash === hashOf(secret) &&
      user.unconfirmedEmail !== null &&
      isSameEmail(user.unconfirmedEmail, invited.email);
    if (!isProven) throw asRefusal(organizationMembershipNotFound(), membership);
    const at = app.now();
    await adoptInvitations(tx, invited, { user, organizations, at });
    confirmEmail(user, invited.email);
    touch(user, at);
    tx.users.save(user);
    await tx.record(userUpdated(user));
    const { organizationId } = membership;
    return (await tx.memberships.get({ organizationId, userId: self })).id;
  });
}

/**
 * Moves the invitations of a placeholder user to a user, and deletes the placeholder. The calling function must have
 * locked the rows of the placeholder and of its organizations. Throws `addressInvitedMeanwhile` if the placeholder has
 * received an invitation from another organization meanwhile.
 */
export async function adoptInvitations(
  tx: Tx,
  placeholder: User,
  {
    organizations,
    ...to
  }: { user: User; organizations: Map<OrganizationId, Organization>; at: Date },
): Promise<void> {
  for (const invitation of await tx.memberships.ofUser(placeholder.id)) {
    const organization = organizations.get(invitation.organizationId);
    if (!organization) throw addressInvitedMeanwhile();
    await moveInvitation(tx, invitation, { ...to, organization });
  }
  await tx.users.removePlaceholder(placeholder);
}

/**
 * Moves an invitation and its team memberships to a user. If the user already belongs to the organization, deletes the
 * invitation and its team memberships instead, because an invitation must not add an existing member to teams.
 */
async function moveInvitation(
  tx: Tx,
  invitation: OrganizationMembership,
  { user, organization, at }: { user: User; organization: Organization; at: Date },
): Promise<void> {
  const { organizationId } = invitation;
  const isMember = await tx.memberships.find({ organizationId, userId: user.id });
  const members = await tx.teamMembers.ofUser(organizationId, invitation.userId);
  for (const member of members) {
    tx.teamMembers.remove(member);
    await tx.record(teamMemberRemoved(member, touch(organization, at)));
  }
  if (isMember) {
    tx.memberships.remove(invitation);
    await tx.record(organizationMembershipDeleted(invitation, touch(organization, at)));
    return;
  }
  invitation.userId = user.id;
  touch(organization, at);
  tx.memberships.save(invitation);
  for (const { teamId } of members) {
    const member = newTeamMember({ id: teamId, organizationId }, user.id, at);
    tx.teamMembers.save(member);
    await tx.record(teamMemberAdded(member, touch(organization, at)));
  }
}
