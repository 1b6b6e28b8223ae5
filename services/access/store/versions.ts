/**
 * The version vector of the user row `u`, as SQL: its own version and that of every organization it is
 * in, sorted. One text for both readers: what Authenticate says must be what GetGrants is kept under.
 */
// index: organization_memberships_user_id_organization_id_key, organizations_pkey
export const userVersions = `'u:' || u.version || coalesce((
    select string_agg(';' || o.id || ':' || o.version, '' order by o.id collate "C")
    from organizations o
    where o.id in (
      select m.organization_id from organization_memberships m
      where m.user_id = u.id and m.status = 'active'
    )
  ), '')`;

/** The version vector of a team or an organization, of the organization's row `o`. */
export const organizationVersions = `o.id || ':' || o.version`;
