import type { TeamId, UserId } from "../domain/ids.ts";
import { refuseLastOwner, TeamMember } from "../domain/team-member.ts";
import { bump } from "../domain/version.ts";
import type { App } from "./app.ts";

export interface TeamMemberInput {
  teamId: TeamId;
  userId: UserId;
}

/** Puts a user into a team. A repeat changes nothing. Throws `notFound`. */
export const addTeamMember = (app: App, { teamId, userId }: TeamMemberInput): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const user = await tx.users.getForUpdate(userId);
    if (await tx.teamMembers.find(teamId, userId)) return;
    const at = app.now();
    const revision = bump(organization, at);
    bump(user, at);
    const member = new TeamMember({
      teamId,
      userId,
      organizationId: organization.id,
      createdAt: at,
    });
    await tx.teamMembers.add(member);
    await tx.record({ type: "teamMemberAdded", member, revision });
  });

/** Takes a user out of a team. A repeat changes nothing. Throws `notFound`, the conflict `last_owner`. */
export const removeTeamMember = (app: App, { teamId, userId }: TeamMemberInput): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    const user = await tx.users.getForUpdate(userId);
    const member = await tx.teamMembers.find(teamId, userId);
    if (!member) return;
    refuseLastOwner(await tx.teams.get(teamId), await tx.teamMembers.count(teamId));
    const at = app.now();
    const revision = bump(organization, at);
    bump(user, at);
    await tx.teamMembers.delete(member);
    await tx.record({ type: "teamMemberRemoved", member, revision });
  });
