/**
 * The version vector of the user row `u`, as SQL: its own version and that of every organization it is
 * in, sorted. One text for both readers: what Authenticate says must be what GetGrants is kept under.
 */
// index: team_members_by_user, organizations_pkey
export const userVersions = `'u:' || u.version || coalesce((
    select string_agg(';' || o.id || ':' || o.version, '' order by o.id collate "C")
    from organizations o
    where o.id in (select m.organization_id from team_members m where m.user_id = u.id)
  ), '')`;
