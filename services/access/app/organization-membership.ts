import {
  allowed,
  authorize,
  type Caller,
  grantsOf,
  refuseUserToken,
} from "@statehouse/authorization";
import type { PageInput } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import { alreadyMember, noSuchMembership, noSuchTeam, throwIfAny } from "../domain/errors.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId, UserId } from "../domain/ids.ts";
import { OrganizationMembership } from "../domain/organization-membership.ts";
import { teamIsVisible } from "../domain/team.ts";
import { TeamMember } from "../domain/team-member.ts";
import { placeholderUser, type User, userProblems } from "../domain/user.ts";
import { bump } from "../domain/version.ts";
import type { MembershipView } from "../store/organization-membership.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { callingUser, grantsIn, membershipIn } from "./caller.ts";
import { refuseNoOwner } from "./last-owner.ts";
import { authorizeTeam } from "./team.ts";

/** A membership as one caller sees it: not every caller may see the address and the teams. */
export interface ShownMembership {
  membership: OrganizationMembership;
  email: string | undefined;
  teamIds: TeamId[];
}

/** A membership without an invitation. */
export const activeMembership = (
  organizationId: OrganizationId,
  userId: UserId,
  createdAt: Date,
): OrganizationMembership =>
  new OrganizationMembership({
    id: newId("ou"),
    organizationId,
    userId,
    status: "active",
    createdAt,
  });

const managesMemberships = (caller: Caller, organizationId: OrganizationId): boolean =>
  allowed(grantsOf(caller), "organization:manage-membership", { organizationId });

const show =
  (caller: Caller) =>
  ({ membership, email, teams }: MembershipView): ShownMembership => {
    const { organizationId, userId } = membership;
    const own = callingUser(caller) === userId;
    const seen = membershipIn(grantsOf(caller), organizationId);
    return {
      membership,
      email: own || managesMemberships(caller, organizationId) ? email : undefined,
      teamIds: teams
        .filter(
          (team) =>
            own ||
            (seen &&
              teamIsVisible(
                {
                  ...team,
                  visibility: team.visibility === "organization" ? "organization" : "secret",
                },
                seen,
              )),
        )
        .map(({ id }) => id),
    };
  };

/**
 * Invites a user by e-mail address, optionally into teams. Throws `notFound` for organization and teams, `forbidden`,
 * `invalid` for a bad address and for a user who is already invited or a member.
 */
export async function createOrganizationMembership(
  app: App,
  caller: Caller,
  wanted: { organizationId: OrganizationId; email: string; teamIds: readonly TeamId[] },
): Promise<ShownMembership> {
  const { organizationId, email } = wanted;
  const membership = await app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:manage-membership", { organizationId });
    const at = app.now();
    throwIfAny(userProblems({ username: "invited", email }));
    const user = await invitedUser(tx, email, at);
    if (await tx.memberships.find(organizationId, user.id)) throwIfAny([alreadyMember]);
    const revision = bump(organization, at);
    bump(user, at);
    const invited = new OrganizationMembership({
      ...activeMembership(organizationId, user.id, at),
      status: "invited",
    });
    await tx.memberships.add(invited);
    await tx.record({
      type: "organizationMembershipInvited",
      membership: invited,
      email,
      revision,
    });
    for (const teamId of [...new Set(wanted.teamIds)].toSorted()) {
      const team = await tx.teams.get(teamId);
      if (team.organizationId !== organizationId) throw noSuchTeam();
      authorizeTeam(caller, "manage-members", team);
      const member = new TeamMember({ teamId, userId: user.id, organizationId, createdAt: at });
      await tx.teamMembers.add(member);
      await tx.record({ type: "teamMemberAdded", member, revision: bump(organization, at) });
    }
    return invited;
  });
  return getShown(app, caller, membership.id);
}

/** For members of the organization and for the invited user. Throws `notFound`. */
export async function getOrganizationMembership(
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<ShownMembership> {
  const [view] = await app.reads.memberships.batch([id]);
  if (!view) throw noSuchMembership();
  const { organizationId, userId } = view.membership;
  if (callingUser(caller) === userId) refuseUserToken(grantsOf(caller), organizationId);
  else authorize(caller, "organization:read", { organizationId }, "organization membership");
  return show(caller)(view);
}

/** Throws `notFound` for an organization that the caller does not belong to. */
export async function listOrganizationMemberships(
  app: App,
  caller: Caller,
  search: {
    organizationId: OrganizationId;
    query: string;
    emails: readonly string[];
    status: string;
    page: PageInput;
  },
): Promise<{ memberships: ShownMembership[]; total: number }> {
  grantsIn(caller, search.organizationId);
  const seesEmails = managesMemberships(caller, search.organizationId);
  const { memberships, total } = await app.reads.memberships.list({ ...search, seesEmails });
  return { memberships: memberships.map(show(caller)), total };
}

/** Memberships of organizations that the caller belongs to. */
export async function batchGetOrganizationMemberships(
  app: App,
  caller: Caller,
  ids: readonly OrganizationMembershipId[],
): Promise<ShownMembership[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const found = await app.reads.memberships.batch(ids);
  return found
    .filter(({ membership: { organizationId } }) =>
      allowed(caller.grants, "organization:read", { organizationId }),
    )
    .map(show(caller));
}

/** By the invited user; a repeat changes nothing. Throws `notFound` for all others. */
export async function acceptOrganizationMembership(
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<ShownMembership> {
  await app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(
      await tx.memberships.organizationOf(id),
    );
    const membership = await tx.memberships.get(id);
    if (callingUser(caller) !== membership.userId) throw noSuchMembership();
    refuseUserToken(grantsOf(caller), membership.organizationId);
    if (membership.status === "active") return;
    const at = app.now();
    bump(await tx.users.getForUpdate(membership.userId), at);
    const revision = bump(organization, at);
    membership.status = "active";
    await tx.memberships.save(membership);
    await tx.record({ type: "organizationMembershipActivated", membership, revision });
  });
  return getShown(app, caller, id);
}

/**
 * Removes a user from the organization and its teams; members can leave, and decline an invitation. Throws `notFound`,
 * `forbidden`, the conflict `last_owner`.
 */
export const deleteOrganizationMembership = (
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(
      await tx.memberships.organizationOf(id),
    );
    const membership = await tx.memberships.get(id);
    const { organizationId, userId } = membership;
    const own = callingUser(caller) === userId;
    const what = "organization membership";
    if (own) refuseUserToken(grantsOf(caller), organizationId);
    else authorize(caller, "organization:manage-membership", { organizationId }, what);
    const at = app.now();
    bump(await tx.users.getForUpdate(userId), at);
    for (const member of await tx.teamMembers.ofUser(organizationId, userId)) {
      const team = await tx.teams.get(member.teamId);
      // A caller that may not change the owners team may not remove an owner in another way.
      if (team.owners && !own) authorizeTeam(caller, "manage-members", team);
      await tx.teamMembers.delete(member);
      await refuseNoOwner(tx, team);
      await tx.record({ type: "teamMemberRemoved", member, revision: bump(organization, at) });
    }
    await tx.memberships.delete(membership);
    const revision = bump(organization, at);
    await tx.record({ type: "organizationMembershipDeleted", membership, revision });
  });

/** The user with that address, or a placeholder until an administrator creates the user. */
async function invitedUser(tx: Tx, email: string, at: Date): Promise<User> {
  const known = await tx.users.findByEmail(email);
  if (known) return known;
  const user = placeholderUser(newId("user"), email, at);
  await tx.users.add(user);
  return tx.users.getForUpdate(user.id);
}

async function getShown(
  app: App,
  caller: Caller,
  id: OrganizationMembershipId,
): Promise<ShownMembership> {
  const [view] = await app.reads.memberships.batch([id]);
  if (!view) throw noSuchMembership();
  return show(caller)(view);
}
