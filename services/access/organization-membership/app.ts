import { randomBytes } from "node:crypto";
import {
  allowed,
  authorize,
  type Caller,
  grantsOf,
  refuseUserToken,
} from "@statehouse/authorization";
import { asRefusal, Problems } from "@statehouse/errors";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import {
  callingUser,
  grantsIn,
  isWithheld,
  organizationsRefusing,
  teamViewerIn,
} from "../caller-app.ts";
import { organizationMembershipNotFound, teamNotFound, userNotFound } from "../errors-domain.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId } from "../ids-domain.ts";
import { claimInvitations } from "../invitation/app.ts";
import type { Tx } from "../nouns.ts";
import { authorizeTeam, getTeam, refuseWithoutOwner } from "../team/app.ts";
import { type Team, teamIsVisible } from "../team/domain.ts";
import { newTeamMember } from "../team-member/domain.ts";
import { teamMemberAdded, teamMemberRemoved } from "../team-member/store.ts";
import { hashOf, SECRET_BYTES } from "../token/secret-domain.ts";
import { checkEmail, newPlaceholderUser } from "../user/domain.ts";
import { touch } from "../version-domain.ts";
import { newOrganizationMembership, type OrganizationMembership } from "./domain.ts";
import {
  invitationCreated,
  type OrganizationMembershipSearch,
  type OrganizationMembershipView,
  organizationMembershipActivated,
  organizationMembershipDeleted,
  organizationMembershipInvited,
} from "./store.ts";

/**
 * A membership with the e-mail address of its user, if the caller may see the address, and with the teams that the
 * caller may see.
 */
export type VisibleMembership = OrganizationMembership & {
  email: string | undefined;
  teamIds: TeamId[];
};

const managesMemberships = (caller: Caller, organizationId: OrganizationId): boolean =>
  allowed(grantsOf(caller), "organization:manage-membership", { organizationId });

const visibleTo =
  (caller: Caller) =>
  ({ email, teams, ...membership }: OrganizationMembershipView): VisibleMembership => {
    const { organizationId, userId } = membership;
    const own = callingUser(caller) === userId;
    const viewer = teamViewerIn(grantsOf(caller), organizationId);
    const visibleTeams = teams.filter((team) => own || (viewer && teamIsVisible(team, viewer)));
    return {
      ...membership,
      email: own || managesMemberships(caller, organizationId) ? email : undefined,
      teamIds: visibleTeams.map(({ id }) => id),
    };
  };

/**
 * Invites a user by e-mail address and adds the user to teams. Throws:
 * - `notFound` for an unknown organization or team
 * - `forbidden`
 * - `invalid` for an invalid e-mail address, or a user who is already invited or a member
 */
export async function createOrganizationMembership(
  app: App,
  caller: Caller,
  invitation: { organizationId: OrganizationId; email: string; teamIds: readonly TeamId[] },
): Promise<VisibleMembership> {
  const { organizationId, email } = invitation;
  const view = await app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:manage-membership", { organizationId });
    const at = app.now();
    const problems = new Problems();
    checkEmail(email, problems);
    problems.throwIfAny();
    const known = await tx.users.findByEmailForUpdate(email);
    // A placeholder becomes a full user when an administrator creates a user with this address.
    const user = known ?? newPlaceholderUser(email, at);
    tx.users.save(user);
    if (await tx.memberships.find({ organizationId, userId: user.id })) {
      problems.add("email", "Email has already been taken");
      problems.throwIfAny();
    }
    touch(user, at);
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const invited = newOrganizationMembership(
      { organizationId, userId: user.id, status: "invited", createdAt: at },
      hashOf(secret),
    );
    tx.memberships.save(invited);
    const revision = touch(organization, at);
    await tx.record(organizationMembershipInvited(invited, revision));
    await tx.record(invitationCreated(invited, { email, secret }, revision));
    const teams = await invitedTeams(tx, caller, invitation);
    for (const team of teams) {
      const member = newTeamMember(team, user.id, at);
      tx.teamMembers.save(member);
      await tx.record(teamMemberAdded(member, touch(organization, at)));
    }
    return { ...invited, email: user.email, teams };
  });
  return visibleTo(caller)(view);
}

/** Returns the teams of an invitation, ordered by name. Throws `notFound` or `forbidden`. */
async function invitedTeams(
  tx: Tx,
  caller: Caller,
  { organizationId, teamIds }: { organizationId: OrganizationId; teamIds: readonly TeamId[] },
): Promise<Team[]> {
  if (teamIds.length === 0) return [];
  const teams = await tx.teams.list({ id: teamIds, organizationId }, { order: ["name"] });
  if (teams.length < new Set(teamIds).size) throw teamNotFound();
  for (const team of teams) authorizeTeam(caller, "manage-members", team);
  return teams;
}

/**
 * Returns a membership. Members of the organization and the invited user may read the membership; for all other
 * callers, throws `notFound`.
 */
export async function getOrganizationMembership(
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<VisibleMembership> {
  const view = await app.reads.memberships.get(id);
  const { organizationId, userId } = view;
  if (callingUser(caller) === userId) refuseToken(caller, organizationId);
  else authorize(caller, "organization:read", { organizationId }, "organization membership");
  return visibleTo(caller)(view);
}

/**
 * Returns a page of an organization's memberships, or of the memberships of a team's members. Throws `notFound` if the
 * caller does not belong to the organization or does not see the team.
 */
export async function listOrganizationMemberships(
  app: App,
  caller: Caller,
  {
    of,
    ...search
  }: Omit<OrganizationMembershipSearch, "seesEmails" | "organizationId" | "teamId"> & {
    of: { organizationId: OrganizationId } | { teamId: TeamId };
  },
): Promise<Page<VisibleMembership>> {
  const teamId = "teamId" in of ? of.teamId : undefined;
  const organizationId =
    "teamId" in of ? (await getTeam(app, caller, of.teamId)).organizationId : of.organizationId;
  grantsIn(caller, organizationId);
  const seesEmails = managesMemberships(caller, organizationId);
  const { rows, total } = await app.reads.memberships.list({
    ...search,
    organizationId,
    teamId,
    seesEmails,
  });
  return { rows: rows.map(visibleTo(caller)), total };
}

/**
 * Returns a page of the calling user's accepted memberships, without those in organizations that do not accept the
 * user's token. Throws `notFound` for callers that are not users.
 */
export async function listOwnOrganizationMemberships(
  app: App,
  caller: Caller,
  page: PageInput,
): Promise<Page<VisibleMembership>> {
  const userId = callingUser(caller);
  if (userId === undefined) throw asRefusal(userNotFound());
  const { rows, total } = await app.reads.memberships.listOwn(
    userId,
    organizationsRefusing(caller),
    page,
  );
  return { rows: rows.map(visibleTo(caller)), total };
}

/** Returns the memberships among `ids` that are in organizations of the caller. */
export async function batchGetOrganizationMemberships(
  app: App,
  caller: Caller,
  ids: readonly OrganizationMembershipId[],
): Promise<VisibleMembership[]> {
  const grants = grantsOf(caller);
  if (ids.length === 0) return [];
  const found = await app.reads.memberships.batch(ids);
  return found
    .filter(({ organizationId }) => allowed(grants, "organization:read", { organizationId }))
    .map(visibleTo(caller));
}

/**
 * Accepts an invitation. The caller must be the invited user, or a user whose unconfirmed e-mail address is the invited
 * one and who sends the secret from the invitation's mail: the invitation is then first transferred to that user.
 * Repeating the call changes nothing. Throws `notFound` for all other callers, and `addressInvitedMeanwhile`.
 */
export async function acceptOrganizationMembership(
  app: App,
  caller: Caller,
  invitation: { id: OrganizationMembershipId; secret: string | undefined },
): Promise<VisibleMembership & { organizationName: string }> {
  const { secret } = invitation;
  const invited = await app.reads.memberships.get(invitation.id);
  // Requested before any change, so that nothing is accepted if the workspaces service is unavailable.
  const organizationName = await app.workspaces.nameOfOrganization(invited.organizationId);
  const id =
    secret === undefined
      ? invitation.id
      : await claimInvitations(app, caller, { ...invitation, secret });
  const view = await app.transaction(async (tx) => {
    const { membership, organization } = await tx.memberships.getWithOrganization(id);
    const organizationId = organization.id;
    if (callingUser(caller) !== membership.userId) {
      throw asRefusal(organizationMembershipNotFound(), membership);
    }
    refuseToken(caller, organizationId);
    if (membership.status === "active") return tx.memberships.commit(membership);
    const at = app.now();
    touch(await tx.users.getForUpdate(membership.userId), at);
    membership.status = "active";
    membership.secretHash = null;
    const revision = touch(organization, at);
    await tx.record(organizationMembershipActivated(membership, revision));
    return tx.memberships.commit(membership);
  });
  return { ...visibleTo(caller)(view), organizationName };
}

/**
 * Removes a user from the organization and its teams. Members may remove themselves, and invited users may decline.
 * Throws `notFound`, `forbidden`, or the conflict `last_owner`.
 */
export const deleteOrganizationMembership = (
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { membership, organization } = await tx.memberships.getWithOrganization(id);
    const organizationId = organization.id;
    const { userId } = membership;
    const own = callingUser(caller) === userId;
    const what = "organization membership";
    if (own) refuseToken(caller, organizationId);
    else authorize(caller, "organization:manage-membership", { organizationId }, what);
    const at = app.now();
    touch(await tx.users.getForUpdate(userId), at);
    for (const member of await tx.teamMembers.ofUser(organizationId, userId)) {
      const team = await tx.teams.get(member.teamId);
      // A caller that is not allowed to manage the owners team must not remove an owner by deleting the membership.
      if (team.owners && !own) authorizeTeam(caller, "manage-members", team);
      tx.teamMembers.remove(member);
      await refuseWithoutOwner(tx, team);
      await tx.record(teamMemberRemoved(member, touch(organization, at)));
    }
    tx.memberships.remove(membership);
    await tx.record(organizationMembershipDeleted(membership, touch(organization, at)));
  });

/**
 * Throws if the organization does not accept the calling user's token. Called only for the caller's own membership: all
 * other memberships are authorized through grants, which already depend on the token.
 */
function refuseToken(caller: Caller, organizationId: OrganizationId): void {
  refuseUserToken(grantsOf(caller), organizationId);
  if (isWithheld(caller, organizationId)) {
    throw asRefusal(organizationMembershipNotFound(), { organizationId });
  }
}
