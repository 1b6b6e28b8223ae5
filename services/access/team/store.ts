import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  existsIn,
  loadBoth,
  offsetOf,
  queryIn,
  recordsOf,
  selectRows,
  withTotal,
} from "@statehouse/postgres";
import {
  boolean,
  optional,
  primaryKey,
  selectList,
  text,
  textArray,
  timestamptz,
} from "@statehouse/postgres/columns";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import {
  TeamCreatedSchema,
  TeamDeletedSchema,
  TeamUpdatedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { teamNameTaken, teamNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId } from "../ids-domain.ts";
import type { Organization } from "../organization/domain.ts";
import { lockOrganizationOf } from "../organization/store.ts";
import { versionOf } from "../organization-version-store.ts";
import { Team, type TeamView } from "./domain.ts";

const columns = {
  id: primaryKey,
  organizationId: text,
  name: text,
  visibility: text,
  organizationAccess: textArray,
  owners: boolean,
  description: optional(text),
  ssoTeamId: optional(text),
  allowMemberTokenManagement: boolean,
  createdAt: timestamptz,
};

const entity = new EntitySchema({ class: Team, tableName: "teams", properties: columns });

const selectFrom = (teams: string) => `select ${selectList("t", columns)}, (
    select coalesce(json_agg(json_build_object(
      'userId', m.user_id, 'organizationMembershipId', ou.id) order by m.user_id), '[]')
    from team_members m join organization_memberships ou
      on ou.user_id = m.user_id and ou.organization_id = m.organization_id
    where m.team_id = t.id
  ) as members from ${teams} t`;

const select = selectFrom("teams");

/** Selects the teams among $1 that belong to one of the organizations $2. */
export const batchOfTeams = `
  -- index: teams_pkey, team_members_pkey, organization_memberships_user_id_organization_id_key
  ${select} where t.id = any($1) and t.organization_id = any($2)`;

export interface TeamSearch {
  organizationId: OrganizationId;
  /** Whether the caller also sees secret teams to which it does not belong. */
  seesAll: boolean;
  teamIds: readonly string[];
  /** Part of the team's name; empty matches all. */
  query: string;
  /** A team must have one of these exact names; an empty list matches all teams. */
  names: readonly string[];
  page: PageInput;
}

const matches = `t.organization_id = $1
  and ($2 or t.visibility = 'organization' or t.id = any($3))
  and strpos(lower(t.name), lower($4)) > 0 and (cardinality($5::text[]) = 0 or t.name = any($5))`;

/** Selects a page of an organization's teams, ordered by name. */
export const listOfTeams = `-- index: teams_name_key, for both
  ${withTotal({
    count: `select count(*)::int as total from teams t where ${matches}`,
    select: `${select} where ${matches} order by t.name limit $6 offset $7`,
    order: "listed.name",
  })}`;

const reads = (database: Database) => ({
  /** Returns the teams among `ids` that belong to one of the organizations. */
  batch: (ids: readonly TeamId[], organizationIds: readonly string[]): Promise<TeamView[]> =>
    database.query(batchOfTeams, [ids, organizationIds]),

  list: (search: TeamSearch): Promise<Page<TeamView>> =>
    database.page(listOfTeams, [
      search.organizationId,
      search.seesAll,
      search.teamIds,
      search.query,
      search.names,
      search.page.size,
      offsetOf(search.page),
    ]),
});

/** Reads and writes teams, inside a transaction that holds the lock on their organization's row. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, teamNotFound);

  return {
    ...records,

    /** Locks the organization of a team, and returns both. */
    async getWithOrganization(id: TeamId): Promise<{ team: Team; organization: Organization }> {
      const [[organization], [team]] = await loadBoth(
        em,
        lockOrganizationOf(em, "teams", id),
        selectRows(em, entity, { id }),
      );
      if (!organization || !team) throw teamNotFound();
      return { team, organization };
    },

    /** Returns whether another team of the organization has the name, ignoring case. */
    nameIsTaken: ({ id, organizationId, name }: Named): Promise<boolean> =>
      existsIn(
        em,
        // index: teams_lower_name_key
        `select from teams where organization_id = $1 and lower(name) = lower($2) and id <> $3`,
        [organizationId, name, id],
      ),

    /** Writes the team and commits. Returns the team with its members. */
    commit: (team: Team): Promise<TeamView> =>
      // index: team_members_pkey, organization_memberships_user_id_organization_id_key
      records.commit(team, selectFrom("changed")),

    /** Deletes the team with its tokens, grants and members. */
    async remove(team: Team): Promise<void> {
      const deleteFrom = (table: string) =>
        `delete from ${table} where team_id = $1 and organization_id = $2`;
      await queryIn(
        em,
        // index: tokens_by_organization, team_accesses_team_id_target_id_key, team_members_pkey, one for each table
        `with deleted_tokens as (${deleteFrom("tokens")}),
           deleted_accesses as (${deleteFrom("team_accesses")})
         ${deleteFrom("team_members")}`,
        [team.id, team.organizationId],
      );
      records.remove(team);
    },
  };
};

type Named = Pick<Team, "id" | "organizationId" | "name">;

// The revision of these events is the version of the organization.

const fieldsOf = ({ id, organizationId, name }: Named, revision: bigint) => ({
  teamId: id,
  organizationId,
  name,
  revision,
});

export const teamCreated = (team: Named, revision: bigint) =>
  published(TeamCreatedSchema, team.id, fieldsOf(team, revision));

export const teamUpdated = (team: Team, revision: bigint) =>
  published(TeamUpdatedSchema, team.id, fieldsOf(team, revision), team);

export const teamDeleted = ({ id, organizationId }: Team, revision: bigint) =>
  published(TeamDeletedSchema, id, { teamId: id, organizationId, revision });

export const teams = {
  entity,
  reads,
  rows,
  uniqueErrors: { teams_name_key: teamNameTaken, teams_lower_name_key: teamNameTaken },
  deletedWithOrganization: "teams",
  listed: listed({
    schemas: [TeamCreatedSchema],
    // index: teams_pkey, organizations_pkey
    from: "teams t",
    columns: `t.id, t.organization_id as "organizationId", t.name`,
    revision: versionOf("t.organization_id"),
    events: (team: Named & { revision: bigint }) => [teamCreated(team, team.revision)],
  }),
};
