import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  loadBoth,
  offsetOf,
  queryIn,
  recordsOf,
  selectRows,
  withTotal,
} from "@statehouse/postgres";
import { jsonb, primaryKey, selectList, text, timestamptz } from "@statehouse/postgres/columns";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import {
  TeamProjectCreatedSchema,
  TeamProjectDeletedSchema,
  TeamProjectUpdatedSchema,
  TeamWorkspaceCreatedSchema,
  TeamWorkspaceDeletedSchema,
  TeamWorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { teamAccessNotFound, teamTaken } from "../errors-domain.ts";
import type { TeamAccessId } from "../ids-domain.ts";
import type { Organization } from "../organization/domain.ts";
import { lockOrganizationOf } from "../organization/store.ts";
import { versionOf } from "../organization-version-store.ts";
import { TeamAccess, type TeamAccessTarget } from "./domain.ts";

const columns = {
  id: primaryKey,
  teamId: text,
  targetType: text,
  targetId: text,
  organizationId: text,
  access: text,
  permissions: jsonb,
  createdAt: timestamptz,
};

const entity = new EntitySchema({
  class: TeamAccess,
  tableName: "team_accesses",
  properties: columns,
});

/**
 * The teams whose grants a list shows: with `all`, all teams; otherwise the teams in `teamIds` and, with `open`, also all
 * teams that are not secret.
 */
export interface VisibleTeams {
  all: boolean;
  teamIds: readonly string[];
  open: boolean;
}

const from = "from team_accesses g join teams t on t.id = g.team_id";

const onTarget = `g.target_type = $1 and g.target_id = $2
  and ($3 or t.id = any($4) or ($5 and t.visibility = 'organization'))
  and ($6 = '' or g.team_id = $6)`;

/**
 * Selects a page of the grants on target $2 of type $1, oldest first: those of all visible teams or, unless $6 is
 * empty, only those of team $6.
 */
export const listOfTeamAccess = `-- index: team_accesses_by_target, teams_pkey
  ${withTotal({
    count: `select count(*)::int as total ${from} where ${onTarget}`,
    select: `select ${selectList("g", columns)} ${from} where ${onTarget}
      order by g.created_at, g.id limit $7 offset $8`,
    order: `listed."createdAt", listed.id`,
  })}`;

/** Selects the grant $1. */
export const teamAccessById = `-- index: team_accesses_pkey, teams_pkey
  select ${selectList("g", columns)}, t.visibility ${from} where g.id = $1`;

/** Selects the targets among $1 on which teams have grants. */
export const targetsWithGrants = `-- index: team_accesses_by_target
  select distinct target_id as "targetId" from team_accesses
  where target_id = any($1)`;

/** A grant with the visibility of its team. */
type TeamAccessRow = TeamAccess & { visibility: string };

const reads = (database: Database) => ({
  async get(id: TeamAccessId): Promise<TeamAccessRow> {
    const [row] = await database.query<TeamAccessRow>(teamAccessById, [id]);
    if (!row) throw teamAccessNotFound();
    return row;
  },

  list: (
    { targetType, targetId }: TeamAccessTarget,
    teams: VisibleTeams,
    { teamId, page }: { teamId: string; page: PageInput },
  ): Promise<Page<TeamAccess>> =>
    database.page(listOfTeamAccess, [
      targetType,
      targetId,
      teams.all,
      teams.teamIds,
      teams.open,
      teamId,
      page.size,
      offsetOf(page),
    ]),

  /** Returns the targets among `targetIds` on which teams have grants. */
  async listTargetsWithGrants<Id extends string>(targetIds: readonly Id[]): Promise<Id[]> {
    const rows = await database.query<{ targetId: Id }>(targetsWithGrants, [targetIds]);
    return rows.map(({ targetId }) => targetId);
  },
});

/** Reads and writes the grants of teams, inside a transaction that holds the lock on their organization's row. */
const rows = (em: EntityManager) => ({
  ...recordsOf(em, entity, teamAccessNotFound),

  /** Locks the organization of a grant, then the grant, and returns both. */
  async getWithOrganization(
    id: TeamAccessId,
  ): Promise<{ teamAccess: TeamAccess; organization: Organization }> {
    const [[organization], [found]] = await loadBoth(
      em,
      lockOrganizationOf(em, "team_accesses", id),
      selectRows(em, entity, { id }, { lock: "update" }),
    );
    if (!organization || !found) throw teamAccessNotFound();
    return { teamAccess: found, organization };
  },

  /** Deletes all grants on the targets. */
  async removeOfTargets(targetIds: readonly string[]): Promise<void> {
    // index: team_accesses_by_target
    await queryIn(em, "delete from team_accesses where target_id = any($1)", [targetIds]);
  },
});

type Granted = Pick<
  TeamAccess,
  "id" | "teamId" | "targetType" | "targetId" | "organizationId" | "access"
>;

// Events of access to a project and to a workspace have different messages. Their revision is the version of the
// organization.

const ofProject = ({ id, teamId, targetId, organizationId }: Granted, revision: bigint) => ({
  teamProjectId: id,
  teamId,
  projectId: targetId,
  organizationId,
  revision,
});

const ofWorkspace = ({ id, teamId, targetId, organizationId }: Granted, revision: bigint) => ({
  teamWorkspaceId: id,
  teamId,
  workspaceId: targetId,
  organizationId,
  revision,
});

export const teamAccessCreated = (of: Granted, revision: bigint) =>
  of.targetType === "project"
    ? published(TeamProjectCreatedSchema, of.id, { ...ofProject(of, revision), access: of.access })
    : published(TeamWorkspaceCreatedSchema, of.id, {
        ...ofWorkspace(of, revision),
        access: of.access,
      });

export const teamAccessUpdated = (of: TeamAccess, revision: bigint) =>
  of.targetType === "project"
    ? published(
        TeamProjectUpdatedSchema,
        of.id,
        { ...ofProject(of, revision), access: of.access },
        of,
      )
    : published(
        TeamWorkspaceUpdatedSchema,
        of.id,
        { ...ofWorkspace(of, revision), access: of.access },
        of,
      );

export const teamAccessDeleted = (of: TeamAccess, revision: bigint) =>
  of.targetType === "project"
    ? published(TeamProjectDeletedSchema, of.id, ofProject(of, revision))
    : published(TeamWorkspaceDeletedSchema, of.id, ofWorkspace(of, revision));

export const teamAccess = {
  entity,
  reads,
  rows,
  uniqueErrors: { team_accesses_team_id_target_id_key: teamTaken },
  deletedWithOrganization: "team_accesses",
  listed: listed({
    schemas: [TeamProjectCreatedSchema, TeamWorkspaceCreatedSchema],
    // index: team_accesses_pkey, organizations_pkey
    from: "team_accesses t",
    columns: `t.id, t.team_id as "teamId", t.target_type as "targetType", t.target_id as "targetId",
      t.organization_id as "organizationId", t.access`,
    revision: versionOf("t.organization_id"),
    events: (of: Granted & { revision: bigint }) => [teamAccessCreated(of, of.revision)],
  }),
};
