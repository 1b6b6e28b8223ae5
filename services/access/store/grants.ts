import type { Database } from "@statehouse/postgres";
import type { PrincipalGrants } from "../domain/grants.ts";
import { organizationVersions, userVersions } from "./versions.ts";

/** What the row `held` (organization_id, owner, refused, team_ids) gives in its organization, as JSON. */
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
        'projects', (
          select coalesce(json_agg(json_build_object(
            'projectId', p.project_id, 'access', p.access, 'permissions', p.permissions
          ) order by p.project_id, p.team_id), '[]')
          from team_projects p where p.team_id = any(held.team_ids)
        ),
        'workspaces', (
          select coalesce(json_agg(json_build_object(
            'workspaceId', w.workspace_id, 'access', w.access, 'permissions', w.permissions
          ) order by w.workspace_id, w.team_id), '[]')
          from team_workspaces w where w.team_id = any(held.team_ids)
        )
      )`;

/**
 * One statement, hence one snapshot: grants and versions always belong together. A suspended user
 * holds nothing, so that a request that was authenticated just before gets nothing either.
 */
export const grantsOfUser = `
  -- index: users_pkey, organization_memberships_user_id_organization_id_key, team_members_by_user,
  -- teams_pkey, team_projects_team_id_project_id_key, team_workspaces_team_id_workspace_id_key
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

/** A team token holds what the team holds. */
export const grantsOfTeam = `
  -- index: teams_pkey, organizations_pkey, team_projects_team_id_project_id_key,
  -- team_workspaces_team_id_workspace_id_key
  select held.versions, false as administrator, json_build_array(${inOrganization}) as organizations
  from (
    select ${organizationVersions} as versions, t.organization_id, t.owners as owner,
      false as refused, array[t.id] as team_ids
    from teams t join organizations o on o.id = t.organization_id where t.id = $1
  ) held`;

/** An organization token holds what owners hold, but for what the actions refuse to its type. */
export const grantsOfOrganization = `
  -- index: organizations_pkey
  select held.versions, false as administrator, json_build_array(${inOrganization}) as organizations
  from (
    select ${organizationVersions} as versions, o.id as organization_id, true as owner,
      false as refused, array[]::text[] as team_ids
    from organizations o where o.id = $1
  ) held`;

/** An audit-trails token is its own principal, and holds nothing. */
export const grantsOfAuditTrails = `
  -- index: tokens_pkey, organizations_pkey
  select ${organizationVersions} as versions, false as administrator, '[]'::json as organizations
  from tokens t join organizations o on o.id = t.organization_id
  where t.id = $1 and t.slot = 'audit-trails'`;

const statements: Readonly<Record<string, readonly string[]>> = {
  user: [grantsOfUser],
  team: [grantsOfTeam],
  organization: [grantsOfOrganization, grantsOfAuditTrails],
};

export const grantsReads = (database: Database) => ({
  /** What the principal holds, with the versions it was read at. */
  async find(type: string, id: string): Promise<PrincipalGrants | undefined> {
    for (const statement of (Object.hasOwn(statements, type) && statements[type]) || []) {
      const [row] = await database.query<PrincipalGrants>(statement, [id]);
      if (row) return row;
    }
    return undefined;
  },
});
