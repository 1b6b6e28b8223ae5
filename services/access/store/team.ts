import {
  type Database,
  type EntityManager,
  offsetOf,
  type PageInput,
  queryIn,
  uniqueViolation,
} from "@statehouse/postgres";
import { noSuchTeam, teamNameTaken, throwIfAny } from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import { Team, type TeamView } from "../domain/team.ts";
import { type CountedRow, counted, rowsOf } from "./counted.ts";
import { teamSchema } from "./entities.ts";

type TeamRow = Team & Pick<TeamView, "members">;

const columns = `t.id, t.organization_id as "organizationId", t.name, t.visibility,
  t.organization_access as "organizationAccess", t.owners, t.sso_team_id as "ssoTeamId",
  t.allow_member_token_management as "allowMemberTokenManagement", t.created_at as "createdAt", (
    select coalesce(json_agg(json_build_object(
      'userId', m.user_id, 'organizationMembershipId', ou.id) order by m.user_id), '[]')
    from team_members m join organization_memberships ou
      on ou.user_id = m.user_id and ou.organization_id = m.organization_id
    where m.team_id = t.id
  ) as members`;

const toView = ({ members, ...team }: TeamRow): TeamView => ({ team: new Team(team), members });

/** Of the teams $1 those in the organizations $2. */
export const batchOfTeams = `
  -- index: teams_pkey, team_members_pkey, organization_memberships_user_id_organization_id_key
  select ${columns} from teams t where t.id = any($1) and t.organization_id = any($2)`;

export interface TeamSearch {
  organizationId: OrganizationId;
  /** Also sees secret teams without being a member. */
  seesAll: boolean;
  teamIds: readonly string[];
  /** Part of the name; empty: any. */
  query: string;
  /** Exact names, any of them; empty: any. */
  names: readonly string[];
  page: PageInput;
}

const sought = `t.organization_id = $1
  and ($2 or t.visibility = 'organization' or t.id = any($3))
  and strpos(lower(t.name), lower($4)) > 0 and (cardinality($5::text[]) = 0 or t.name = any($5))`;

/** A page of an organization's teams, by name. */
export const listOfTeams = `-- index: teams_name_key, for both
  ${counted(
    `select count(*)::int as total from teams t where ${sought}`,
    `select ${columns} from teams t where ${sought} order by t.name limit $6 offset $7`,
    "listed.name",
  )}`;

/** Reads of teams outside any transaction. */
export const teamReads = (database: Database) => ({
  /** Those of `ids` in one of the organizations. */
  async batch(
    ids: readonly TeamId[],
    organizationIds: readonly OrganizationId[],
  ): Promise<TeamView[]> {
    const rows = await database.query<TeamRow>(batchOfTeams, [ids, organizationIds]);
    return rows.map(toView);
  },

  async list(search: TeamSearch): Promise<{ teams: TeamView[]; total: number }> {
    const found = await database.query<CountedRow<TeamRow>>(listOfTeams, [
      search.organizationId,
      search.seesAll,
      search.teamIds,
      search.query,
      search.names,
      search.page.size,
      offsetOf(search.page),
    ]);
    const { rows, total } = rowsOf(found);
    return { teams: rows.map(toView), total };
  },
});

/** Teams inside a transaction that holds the lock on their organization's row. */
export const teamRows = (em: EntityManager) => ({
  async get(id: TeamId): Promise<Team> {
    const team = await em.findOne(teamSchema, { id });
    if (!team) throw noSuchTeam();
    return team;
  },

  async view(id: TeamId, organizationId: OrganizationId): Promise<TeamView> {
    const [row] = await queryIn<TeamRow>(em, batchOfTeams, [[id], [organizationId]]);
    if (!row) throw noSuchTeam();
    return toView(row);
  },

  async ownersOf(organizationId: OrganizationId): Promise<Team> {
    // index: teams_owners_key
    const team = await em.findOne(teamSchema, { organizationId, owners: true });
    if (!team) throw noSuchTeam();
    return team;
  },

  async nameIsTaken({ id, organizationId, name }: Team): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: teams_name_key
      "select from teams where organization_id = $1 and name = $2 and id <> $3",
      [organizationId, name, id],
    );
    return rows.length > 0;
  },

  async add(team: Team): Promise<void> {
    await em.insert(teamSchema, { ...team });
  },

  async save({ id, createdAt: _, ...team }: Team): Promise<void> {
    try {
      await em.nativeUpdate(teamSchema, { id }, { ...team });
    } catch (error) {
      if (uniqueViolation(error, "teams_name_key")) throwIfAny([teamNameTaken]);
      throw error;
    }
  },

  /** With all dependent rows. */
  async delete({ id }: Team): Promise<void> {
    for (const table of ["tokens", "team_accesses", "team_members"]) {
      // index: tokens_slot_key and others by team
      await queryIn(em, `delete from ${table} where team_id = $1`, [id]);
    }
    await em.nativeDelete(teamSchema, { id });
  },
});
