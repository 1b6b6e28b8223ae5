import type { Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { organizationMembershipNotFound, userNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId, UserId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { newOrganizationMembership } from "../organization-membership/domain.ts";
import {
  type NamedMembers,
  organizationMembershipActivated,
} from "../organization-membership/store.ts";
import { authorizeTeam, refuseWithoutOwner } from "../team/app.ts";
import { touch } from "../version-domain.ts";
import { newTeamMember, type TeamMember } from "./domain.ts";
import { teamMemberAdded, teamMemberRemoved } from "./store.ts";

/**
 * Adds members of the organization or invited users to a team. Repeating the call changes nothing. Throws `forbidden`,
 * and `notFound` for an unknown team or a user who is neither a member of the organization nor invited.
 */
export const addTeamMembers = (
  app: App,
  caller: Caller,
  { teamId, ...named }: NamedMembers & { teamId: TeamId },
): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    authorizeTeam(caller, "manage-members", team);
    const at = app.now();
    for (const userId of await idsOfNamed(tx, organization.id, named)) {
      if (await tx.teamMembers.find({ teamId, userId })) continue;
      touch(await tx.users.getForUpdate(userId), at);
      const member = newTeamMember(team, userId, at);
      tx.teamMembers.save(member);
      await tx.record(teamMemberAdded(member, touch(organization, at)));
    }
  });

/**
 * Removes members from a team. Users who are not members of the team are ignored. Throws the same errors as
 * `addTeamMembers`, and the conflict `last_owner` if the owners team would have no active member.
 */
export const removeTeamMembers = (
  app: App,
  caller: Caller,
  { teamId, ...named }: NamedMembers & { teamId: TeamId },
): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    authorizeTeam(caller, "manage-members", team);
    const at = app.now();
    for (const userId of await idsOfNamed(tx, organization.id, named)) {
      const member = await tx.teamMembers.find({ teamId, userId });
      if (!member) continue;
      touch(await tx.users.getForUpdate(userId), at);
      tx.teamMembers.remove(member);
      await tx.record(teamMemberRemoved(member, touch(organization, at)));
    }
    await refuseWithoutOwner(tx, team);
  });

/**
 * Adds a user to a team. A user who is neither a member of the organization nor invited becomes an active member. Only
 * services call this function. Repeating the call changes nothing. Throws `notFound`.
 */
export const addTeamMember = (
  app: App,
  { teamId, userId }: Pick<TeamMember, "teamId" | "userId">,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    const user = await tx.users.getForUpdate(userId);
    if (await tx.teamMembers.find({ teamId, userId })) return;
    const at = app.now();
    touch(user, at);
    const organizationId = organization.id;
    if (!(await tx.memberships.find({ organizationId, userId }))) {
      const membership = newOrganizationMembership({
        organizationId,
        userId,
        status: "active",
        createdAt: at,
      });
      tx.memberships.save(membership);
      await tx.record(organizationMembershipActivated(membership, touch(organization, at)));
    }
    const member = newTeamMember(team, userId, at);
    tx.teamMembers.save(member);
    await tx.record(teamMemberAdded(member, touch(organization, at)));
  });

/**
 * Removes a user from a team. Only services call this function. Repeating the call changes nothing. Throws `notFound`
 * or the conflict `last_owner`.
 */
export const removeTeamMember = (
  app: App,
  { teamId, userId }: Pick<TeamMember, "teamId" | "userId">,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    const user = await tx.users.getForUpdate(userId);
    const member = await tx.teamMembers.find({ teamId, userId });
    if (!member) return;
    const at = app.now();
    touch(user, at);
    tx.teamMembers.remove(member);
    await refuseWithoutOwner(tx, team);
    await tx.record(teamMemberRemoved(member, touch(organization, at)));
  });

/**
 * Returns the ids of the named users. Throws `notFound` if one of them is neither a member of the organization nor
 * invited, or is invited and named by username.
 */
async function idsOfNamed(
  tx: Tx,
  organizationId: OrganizationId,
  { users, organizationMembershipIds }: NamedMembers,
): Promise<UserId[]> {
  const found = await tx.memberships.usersNamed(organizationId, {
    users,
    organizationMembershipIds,
  });
  const names = new Set<string>(found.flatMap(({ id, username }) => [id, username]));
  const memberships = new Set<string>(found.map(({ membershipId }) => membershipId));
  for (const user of users) {
    if (!names.has(user) && !names.has(user.toLowerCase())) throw userNotFound();
  }
  for (const id of organizationMembershipIds) {
    if (!memberships.has(id)) throw organizationMembershipNotFound();
  }
  return found.map(({ id }) => id);
}
