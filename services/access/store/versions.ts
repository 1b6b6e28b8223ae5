/**
 * The version vector of the user row `u`, as SQL: its own version and that of every organization it is in, in the order
 * of the index, because sorting costs as much as the rest of Authenticate. Both readers use this text: grants are
 * cached under the versions that Authenticate returns.
 */
// index: organization_memberships_user_id_organization_id_key, organizations_pkey
export const userVersions = `'u:' || u.version || array_to_string(array(
    select ';' || o.id || ':' || o.version
    from organization_memberships m join organizations o on o.id = m.organization_id
    where m.user_id = u.id and m.status = 'active'
    order by m.organization_id
  ), '')`;

/** The version vector of a team or an organization, from the organization's row `o`. */
export const organizationVersions = `o.id || ':' || o.version`;
