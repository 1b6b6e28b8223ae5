import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import { noSuchTeam } from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import { type CountedTeam, Team } from "../domain/team.ts";
import { teamSchema } from "./entities.ts";

const columns = `id, organization_id as "organizationId", name, visibility,
  organization_access as "organizationAccess", owners, created_at as "createdAt"`;

/** Of the teams $1 those in the organizations $2. */
export const batchOfTeams = `
  -- index: teams_pkey, team_members_pkey
  select ${columns}, (
    select count(*)::int from team_members where team_id = teams.id
  ) as "usersCount"
  from teams where id = any($1) and organization_id = any($2)`;

/** Reads of teams outside any transaction. */
export const teamReads = (database: Database) => ({
  /** Those of `ids` that are in one of the organizations. */
  async batch(
    ids: readonly TeamId[],
    organizationIds: readonly OrganizationId[],
  ): Promise<CountedTeam[]> {
    const rows = await database.query<Team & { usersCount: number }>(batchOfTeams, [
      ids,
      organizationIds,
    ]);
    return rows.map(({ usersCount, ...team }) => ({ team: new Team(team), usersCount }));
  },
});

/** Teams inside a transaction that holds their organization's row. */
export const teamRows = (em: EntityManager) => ({
  async get(id: TeamId): Promise<Team> {
    const team = await em.findOne(teamSchema, { id });
    if (!team) throw noSuchTeam();
    return team;
  },

  async ownersOf(organizationId: OrganizationId): Promise<Team> {
    // index: teams_owners_key
    const team = await em.findOne(teamSchema, { organizationId, owners: true });
    if (!team) throw noSuchTeam();
    return team;
  },

  async nameIsTaken(organizationId: OrganizationId, name: string): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: teams_name_key
      "select from teams where organization_id = $1 and name = $2",
      [organizationId, name],
    );
    return rows.length > 0;
  },

  async add(team: Team): Promise<void> {
    await em.insert(teamSchema, { ...team });
  },
});
