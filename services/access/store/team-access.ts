import { LockMode } from "@mikro-orm/core";
import {
  type Database,
  type EntityManager,
  offsetOf,
  pageWithTotal,
  queryIn,
  type RowWithTotal,
  withTotal,
} from "@statehouse/postgres";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import { noSuchTeamAccess } from "../domain/errors.ts";
import type { TeamAccessId, TeamId } from "../domain/ids.ts";
import { type TargetType, TeamAccess, type TeamAccessTarget } from "../domain/team-access.ts";
import { teamAccessSchema } from "./entities.ts";

/** The teams whose grants a list shows: all, or some, optionally including those that are not secret. */
export type VisibleTeams =
  | { all: true }
  | { all: false; teamIds: readonly string[]; open: boolean };

const columns = `g.id, g.team_id as "teamId", g.target_type as "targetType", g.target_id as "targetId",
  g.organization_id as "organizationId", g.access, g.permissions, g.created_at as "createdAt"`;

const from = "from team_accesses g join teams t on t.id = g.team_id";

const onTarget = `g.target_type = $1 and g.target_id = $2
  and ($3 or t.id = any($4) or ($5 and t.visibility = 'organization'))`;

/** A page of the visible grants on target $2 of type $1, by age. */
export const listOfTeamAccess = `-- index: team_accesses_by_target, teams_pkey
  ${withTotal({
    count: `select count(*)::int as total ${from} where ${onTarget}`,
    select: `select ${columns} ${from} where ${onTarget}
      order by g.created_at, g.id limit $6 offset $7`,
    order: `listed."createdAt", listed.id`,
  })}`;

/** A grant with the visibility of its team. */
type TeamAccessRow = TeamAccess & { visibility: string };

/** Grants outside any transaction. */
export const teamAccessReads = (database: Database) => ({
  async get(targetType: TargetType, id: TeamAccessId): Promise<TeamAccessRow> {
    const [row] = await database.query<TeamAccessRow>(
      // index: team_accesses_pkey, teams_pkey
      `select ${columns}, t.visibility ${from} where g.id = $1 and g.target_type = $2`,
      [id, targetType],
    );
    if (!row) throw noSuchTeamAccess();
    return row;
  },

  async list(
    { targetType, targetId }: TeamAccessTarget,
    teams: VisibleTeams,
    page: PageInput,
  ): Promise<Page<TeamAccess>> {
    const { rows, total } = pageWithTotal(
      await database.query<RowWithTotal<TeamAccess>>(listOfTeamAccess, [
        targetType,
        targetId,
        teams.all,
        teams.all ? [] : teams.teamIds,
        !teams.all && teams.open,
        page.size,
        offsetOf(page),
      ]),
    );
    return { rows: rows.map((row) => new TeamAccess(row)), total };
  },
});

/** Grants inside a transaction that holds the lock on their organization's row. */
export const teamAccessRows = (em: EntityManager) => ({
  async exists(teamId: TeamId, { targetId }: TeamAccessTarget): Promise<boolean> {
    // index: team_accesses_team_id_target_id_key
    return (await em.count(teamAccessSchema, { teamId, targetId })) > 0;
  },

  async getForUpdate(id: TeamAccessId): Promise<TeamAccess> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const found = await em.findOne(teamAccessSchema, { id }, { lockMode });
    if (!found) throw noSuchTeamAccess();
    return found;
  },

  async add(teamAccess: TeamAccess): Promise<void> {
    await em.insert(teamAccessSchema, { ...teamAccess });
  },

  async save({ id, access, permissions }: TeamAccess): Promise<void> {
    await em.nativeUpdate(teamAccessSchema, { id }, { access, permissions });
  },

  async delete({ id }: TeamAccess): Promise<void> {
    await em.nativeDelete(teamAccessSchema, { id });
  },

  async removeOfTarget({
    targetType,
    targetId,
  }: {
    targetType: TargetType;
    targetId: string;
  }): Promise<void> {
    await queryIn(
      em,
      // index: team_accesses_by_target
      "delete from team_accesses where target_type = $1 and target_id = $2",
      [targetType, targetId],
    );
  },
});
