import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { TeamId, UserId } from "../domain/ids.ts";
import type { TeamMember } from "../domain/team-member.ts";
import { teamMemberSchema } from "./entities.ts";

/** Memberships inside a transaction that holds their organization's row. */
export const teamMemberRows = (em: EntityManager) => ({
  async find(teamId: TeamId, userId: UserId): Promise<TeamMember | null> {
    return em.findOne(teamMemberSchema, { teamId, userId });
  },

  async count(teamId: TeamId): Promise<number> {
    const [row] = await queryIn<{ count: number }>(
      em,
      // index: team_members_pkey
      "select count(*)::int as count from team_members where team_id = $1",
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
