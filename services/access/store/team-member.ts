import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { OrganizationId, TeamId, UserId } from "../domain/ids.ts";
import type { TeamMember } from "../domain/team-member.ts";
import { teamMemberSchema } from "./entities.ts";

/** Memberships inside a transaction that holds the lock on their organization's row. */
export const teamMemberRows = (em: EntityManager) => ({
  async find(teamId: TeamId, userId: UserId): Promise<TeamMember | null> {
    return em.findOne(teamMemberSchema, { teamId, userId });
  },

  /** The teams of a user in an organization. */
  async ofUser(organizationId: OrganizationId, userId: UserId): Promise<TeamMember[]> {
    // index: team_members_by_user
    return em.find(teamMemberSchema, { organizationId, userId }, { orderBy: { teamId: "asc" } });
  },

  /** In a fixed order, against deadlocks. */
  async ofTeam(teamId: TeamId): Promise<TeamMember[]> {
    // index: team_members_pkey
    return em.find(teamMemberSchema, { teamId }, { orderBy: { userId: "asc" } });
  },

  /** Those who accepted their invitation: the others do not count as owners. */
  async countActive(teamId: TeamId): Promise<number> {
    const [row] = await queryIn<{ count: number }>(
      em,
      // index: team_members_pkey, organization_memberships_user_id_organization_id_key
      `select count(*)::int as count from team_members m
       join organization_memberships ou
         on ou.user_id = m.user_id and ou.organization_id = m.organization_id
       where m.team_id = $1 and ou.status = 'active'`,
      [teamId],
    );
    return row?.count ?? 0;
  },

  async add(member: TeamMember): Promise<void> {
    await em.insert(teamMemberSchema, { ...member });
  },

  async delete({ teamId, userId }: TeamMember): Promise<void> {
    await em.nativeDelete(teamMemberSchema, { teamId, userId });
  },
});
