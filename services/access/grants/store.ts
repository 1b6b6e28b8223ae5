import type {
  Grants,
  OrganizationGrants,
  Principal,
  ProjectGrant,
  TeamGrants,
  WorkspaceGrant,
} from "@statehouse/authorization";
import type { Database } from "@statehouse/postgres";
import type { TargetType } from "../team-access/domain.ts";
import { organizationVersions, userVersions } from "../versions-store.ts";

/** Selects the grants that the teams of the row `held` (see `inOrganization`) have on targets of one type, as JSON. */
const grantsOn = (targetType: TargetType) => `
          select coalesce(json_agg(json_build_object(
            'targetId', g.target_id, 'access', g.access, 'permissions', g.permissions
          ) order by g.target_id, g.team_id), '[]')
          from team_accesses g
          where g.team_id = any(held.team_ids) and g.target_type = '${targetType}'`;

/**
 * SQL expression for the grants of the row `held` (organization_id, owner, refused, team_ids) in its organization, as
 * JSON.
 */
const inOrganization = `json_build_object(
        'organizationId', held.organization_id,
        'owner', held.owner,
        'refused', held.refused,
        'teamIds', held.team_ids,
        'organizationAccess', (
          select coalesce(json_agg(distinct access), '[]')
          from teams t, unnest(t.organization_access) access
          where t.id = any(held.team_ids)
        ),
        'projects', (${grantsOn("project")}),
        'workspaces', (${grantsOn("workspace")})
      )`;

/**
 * Selects the grants of a user and the version vector. It is one statement and therefore reads one snapshot, so that
 * the grants always match the versions. A suspended user has no grants, even if the request was authenticated just
 * before the suspension.
 */
export const grantsOfUser = `
  -- index: users_pkey, organization_memberships_user_id_organization_id_key, team_members_by_user,
  -- teams_pkey, team_accesses_team_id_target_id_key
  select ${userVersions} as versions,
    u.administrator and not u.suspended as administrator,
    coalesce((
      select json_agg(${inOrganization} order by held.organization_id)
      from (
        select m.organization_id, not o.user_tokens_enabled as refused,
          coalesce(bool_or(t.owners), false) as owner,
          coalesce(array_agg(t.id order by t.id) filter (where t.id is not null), '{}') as team_ids
        from organization_memberships m
        join organizations o on o.id = m.organization_id
        left join team_members tm
          on tm.user_id = m.user_id and tm.organization_id = m.organization_id
        left join teams t on t.id = tm.team_id
        where m.user_id = u.id and m.status = 'active' and not u.suspended
        group by m.organization_id, o.user_tokens_enabled
      ) held
    ), '[]') as organizations
  from users u where u.id = $1`;

/** Selects the grants of a team token: the grants of its team. */
export const grantsOfTeam = `
  -- index: teams_pkey, organizations_pkey, team_accesses_team_id_target_id_key
  select held.versions, false as administrator, json_build_array(${inOrganization}) as organizations
  from (
    select ${organizationVersions} as versions, t.organization_id, t.owners as owner,
      false as refused, array[t.id] as team_ids
    from teams t join organizations o on o.id = t.organization_id where t.id = $1
  ) held`;

/**
 * Selects the grants of an organization token: the grants of an owner. Authorization nevertheless forbids some actions
 * to organization tokens.
 */
export const grantsOfOrganization = `
  -- index: organizations_pkey
  select held.versions, false as administrator, json_build_array(${inOrganization}) as organizations
  from (
    select ${organizationVersions} as versions, o.id as organization_id, true as owner,
      false as refused, array[]::text[] as team_ids
    from organizations o where o.id = $1
  ) held`;

/**
 * Selects the grants of an audit-trails token. Such a token is a principal of its own: it may read the audit trail of
 * its organization and has no grants.
 */
export const grantsOfAuditTrails = `
  -- index: tokens_pkey, organizations_pkey
  select ${organizationVersions} as versions, false as administrator, '[]'::json as organizations,
    o.id as "auditTrailOf"
  from tokens t join organizations o on o.id = t.organization_id
  where t.id = $1 and t.slot = 'audit-trails'`;

/** Selects the grants that each of the teams $1 gives on the organization and on the targets $2. */
export const grantsOfTeams = `
  -- index: teams_pkey, team_accesses_team_id_target_id_key
  select t.id as "teamId", t.owners,
    t.organization_access as "organizationAccess", (
      select coalesce(json_agg(json_build_object('targetType', g.target_type,
        'targetId', g.target_id, 'access', g.access, 'permissions', g.permissions
      ) order by g.target_type, g.target_id), '[]')
      from team_accesses g where g.team_id = t.id and g.target_id = any($2)
    ) as "onTargets"
  from teams t where t.id = any($1) order by t.name, t.id`;

const statements: Partial<Record<Principal["type"], readonly string[]>> = {
  user: [grantsOfUser],
  team: [grantsOfTeam],
  organization: [grantsOfOrganization, grantsOfAuditTrails],
};

type OnTarget<Grant> = Grant & { targetId: string };

interface OrganizationRow
  extends Pick<OrganizationGrants, "organizationId" | "owner" | "refused" | "teamIds"> {
  organizationAccess: string[];
  projects: OnTarget<ProjectGrant>[];
  workspaces: OnTarget<WorkspaceGrant>[];
}

type GrantsRow = Pick<Grants, "versions" | "administrator" | "auditTrailOf"> & {
  organizations: OrganizationRow[];
};

const toGrants = (
  principal: Grants["principal"],
  { versions, administrator, auditTrailOf, organizations }: GrantsRow,
): Grants => ({
  principal,
  versions,
  administrator,
  auditTrailOf,
  organizations: new Map(
    organizations.map((row) => [
      row.organizationId,
      {
        ...row,
        organizationAccess: new Set(row.organizationAccess),
        projects: Map.groupBy(row.projects, ({ targetId }) => targetId),
        workspaces: Map.groupBy(row.workspaces, ({ targetId }) => targetId),
      },
    ]),
  ),
});

const reads = (database: Database) => ({
  /** Returns the grants of each team on its organization and on the targets, ordered by the team's name. */
  listOfTeams: (teamIds: readonly string[], targetIds: readonly string[]): Promise<TeamGrants[]> =>
    database.query(grantsOfTeams, [teamIds, targetIds]),

  /** Returns the grants of a principal, with the versions at which they were read. */
  async find({ type, id }: Grants["principal"]): Promise<Grants | undefined> {
    for (const statement of statements[type] ?? []) {
      const [row] = await database.query<GrantsRow>(statement, [id]);
      if (row) return toGrants({ type, id }, row);
    }
    return undefined;
  },
});

export const grants = { reads };
