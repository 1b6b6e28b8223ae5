import type { Caller } from "@statehouse/authorization";
import { noSuchMembership, noSuchUser } from "../domain/errors.ts";
import { isUserId, type OrganizationId, type TeamId, type UserId } from "../domain/ids.ts";
import { TeamMember } from "../domain/team-member.ts";
import { bump } from "../domain/version.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { refuseNoOwner } from "./last-owner.ts";
import { activeMembership } from "./organization-membership.ts";
import { authorizeTeam } from "./team.ts";

export interface TeamMemberInput {
  teamId: TeamId;
  userId: UserId;
}

/** Users of a request, by name or id, or by membership. */
export interface People {
  users: readonly string[];
  membershipIds: readonly string[];
}

/**
 * Adds members of the organization to a team. Repeats change nothing. Throws `notFound` for the team and for users who
 * are not members, `forbidden`.
 */
export const addTeamMembers = (
  app: App,
  caller: Caller,
  { teamId, ...people }: People & { teamId: TeamId },
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const team = await tx.teams.get(teamId);
    authorizeTeam(caller, "manage-members", team);
    const at = app.now();
    for (const { id: userId } of await membersNamed(tx, organization.id, people)) {
      if (await tx.teamMembers.find(teamId, userId)) continue;
      bump(await tx.users.getForUpdate(userId), at);
      const revision = bump(organization, at);
      const member = new TeamMember({
        teamId,
        userId,
        organizationId: organization.id,
        createdAt: at,
      });
      await tx.teamMembers.add(member);
      await tx.record({ type: "teamMemberAdded", member, revision });
    }
  });

/** Removes users from a team, ignoring those who are not in it. Also throws the conflict `last_owner`. */
export const removeTeamMembers = (
  app: App,
  caller: Caller,
  { teamId, ...people }: People & { teamId: TeamId },
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const team = await tx.teams.get(teamId);
    authorizeTeam(caller, "manage-members", team);
    const at = app.now();
    for (const { id: userId } of await membersNamed(tx, organization.id, people)) {
      const member = await tx.teamMembers.find(teamId, userId);
      if (!member) continue;
      bump(await tx.users.getForUpdate(userId), at);
      const revision = bump(organization, at);
      await tx.teamMembers.delete(member);
      await tx.record({ type: "teamMemberRemoved", member, revision });
    }
    await refuseNoOwner(tx, team);
  });

/** For services: also makes the user a member of the organization. A repeat changes nothing. Throws `notFound`. */
export const addTeamMember = (app: App, { teamId, userId }: TeamMemberInput): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const user = await tx.users.getForUpdate(userId);
    if (await tx.teamMembers.find(teamId, userId)) return;
    const at = app.now();
    bump(user, at);
    const organizationId = organization.id;
    if (!(await tx.memberships.find(organizationId, userId))) {
      const membership = activeMembership(organizationId, userId, at);
      const revision = bump(organization, at);
      await tx.memberships.add(membership);
      await tx.record({ type: "organizationMembershipActivated", membership, revision });
    }
    const revision = bump(organization, at);
    const member = new TeamMember({ teamId, userId, organizationId, createdAt: at });
    await tx.teamMembers.add(member);
    await tx.record({ type: "teamMemberAdded", member, revision });
  });

/** For services. A repeat changes nothing. Throws `notFound`, the conflict `last_owner`. */
export const removeTeamMember = (app: App, { teamId, userId }: TeamMemberInput): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const user = await tx.users.getForUpdate(userId);
    const member = await tx.teamMembers.find(teamId, userId);
    if (!member) return;
    const at = app.now();
    const revision = bump(organization, at);
    bump(user, at);
    await tx.teamMembers.delete(member);
    await refuseNoOwner(tx, await tx.teams.get(teamId));
    await tx.record({ type: "teamMemberRemoved", member, revision });
  });

/** Throws `notFound` if one of them does not exist. */
async function membersNamed(
  tx: Tx,
  organizationId: OrganizationId,
  { users, membershipIds }: People,
): Promise<{ id: UserId }[]> {
  const found = await tx.memberships.usersOf(organizationId, {
    ids: users.filter(isUserId),
    names: users.filter((user) => !isUserId(user)),
    membershipIds,
  });
  const names = new Set<string>(found.flatMap(({ id, username }) => [id, username]));
  const memberships = new Set<string>(found.map(({ membershipId }) => membershipId));
  for (const user of users) {
    if (!names.has(user) && !names.has(user.toLowerCase())) throw noSuchUser();
  }
  for (const id of membershipIds) if (!memberships.has(id)) throw noSuchMembership();
  return found;
}
