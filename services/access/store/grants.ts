import type { Database } from "@statehouse/postgres";
import type { OrganizationGrants, UserGrants } from "../domain/grants.ts";
import { userVersions } from "./versions.ts";

interface UserGrantsRow {
  versions: string;
  administrator: boolean;
  organizations: OrganizationGrants[];
}

/**
 * One statement, hence one snapshot: grants and versions always belong together. A suspended user
 * holds nothing, so that a request that was authenticated just before gets nothing either.
 */
export const grantsOfUser = `
  -- index: users_pkey, team_members_by_user, teams_pkey, team_projects_team_id_project_id_key
  select ${userVersions} as versions,
    u.administrator and not u.suspended as administrator,
    coalesce((
      select json_agg(json_build_object(
        'organizationId', held.organization_id,
        'owner', held.owner,
        'teamIds', held.team_ids,
        'organizationAccess', (
          select coalesce(json_agg(distinct access), '[]')
          from teams t, unnest(t.organization_access) access
          where t.id = any(held.team_ids)
        ),
        'projects', (
          select coalesce(json_agg(json_build_object(
            'projectId', p.project_id, 'access', p.access
          ) order by p.project_id, p.team_id), '[]')
          from team_projects p where p.team_id = any(held.team_ids)
        )
      ) order by held.organization_id)
      from (
        select m.organization_id, bool_or(t.owners) as owner,
          array_agg(m.team_id order by m.team_id) as team_ids
        from team_members m join teams t on t.id = m.team_id
        where m.user_id = u.id and not u.suspended
        group by m.organization_id
      ) held
    ), '[]') as organizations
  from users u where u.id = $1`;

export const grantsReads = (database: Database) => ({
  /** What the user's teams give it, with the versions it was read at. */
  async findOfUser(userId: string): Promise<UserGrants | undefined> {
    const [row] = await database.query<UserGrantsRow>(grantsOfUser, [userId]);
    return row;
  },
});
