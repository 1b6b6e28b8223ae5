import { WITHHELD } from "@statehouse/authorization";
import { outlivesPolicy } from "./token-ttl-policy.ts";

/**
 * The version vector of the user row `u`, as SQL: its own version and that of every organization it is in, in the order
 * of the index, because sorting costs as much as the rest of Authenticate. Both readers use this text: grants are
 * cached under the versions that Authenticate returns.
 */
// index: organization_memberships_user_id_organization_id_key, organizations_pkey
const versionsOfUser = (mark: string) => `'u:' || u.version || array_to_string(array(
    select ';' || o.id || ':' || o.version${mark}
    from organization_memberships m join organizations o on o.id = m.organization_id
    where m.user_id = u.id and m.status = 'active'
    order by m.organization_id
  ), '')`;

/** The version vector of the user row `u`, under which its grants are cached. */
export const userVersions = versionsOfUser("");

/** The same for the user's token of row `t`, with a mark on organizations that allow only shorter lifetimes. */
export const userTokenVersions = versionsOfUser(
  ` || case when ${outlivesPolicy("'user'", "t.expired_at")} then '${WITHHELD}' else '' end`,
);

/** The version vector of a team or an organization, from the organization's row `o`. */
export const organizationVersions = `o.id || ':' || o.version`;
