import { WITHHELD } from "@statehouse/authorization";
import { outlivesPolicy } from "./token-ttl-policy/store.ts";

/**
 * SQL expression for the version vector of the user row `u`: the user's own version, and the version of every
 * organization whose membership the user has accepted. Authentication and grants must use this same expression, because
 * grants are cached under the vector that Authenticate returns. The organizations have the order of the index, because
 * sorting them would cost as much as the rest of Authenticate.
 */
// index: organization_memberships_user_id_organization_id_key, organizations_pkey
const versionsOfUser = (mark: string) => `'u:' || u.version || array_to_string(array(
    select ';' || o.id || ':' || o.version${mark}
    from organization_memberships m join organizations o on o.id = m.organization_id
    where m.user_id = u.id and m.status = 'active'
    order by m.organization_id
  ), '')`;

/** The version vector of the user row `u`, under which the user's grants are cached. */
export const userVersions = versionsOfUser("");

/**
 * The version vector for the user token of row `t`. The vector marks the organizations that do not accept the token,
 * because the token's lifetime is longer than they allow.
 */
export const userTokenVersions = versionsOfUser(
  ` || case when ${outlivesPolicy("'user'", "t.expired_at")} then '${WITHHELD}' else '' end`,
);

/** The version vector of a team or organization: the version of the organization's row `o`. */
export const organizationVersions = `o.id || ':' || o.version`;
