import type { Database } from "@statehouse/postgres";
import type { TokenId } from "../domain/ids.ts";
import type { Token } from "../domain/token.ts";
import { organizationVersions, userVersions } from "./versions.ts";

/** Whom a token speaks for. */
export interface Authenticated {
  tokenId: TokenId;
  type: Token["type"];
  /** Of the user, team or organization; of an audit-trails token its own id, which holds nothing. */
  id: string;
  versions: string;
}

/** On every request's path: one statement, a few index lookups. */
export const authenticate = `
  -- index: tokens_hash_key, users_pkey, organizations_pkey
  select t.id as "tokenId", t.type,
    case when t.slot = 'audit-trails' then t.id
      else coalesce(t.user_id, t.team_id, t.organization_id) end as id,
    case t.type when 'user' then ${userVersions} else ${organizationVersions} end as versions
  from tokens t
  left join users u on u.id = t.user_id
  left join organizations o on o.id = t.organization_id
  where t.hash = $1 and t.expired_at > $2 and u.suspended is not true`;

export const authenticationReads = (database: Database) => ({
  /** The living token with this hash, unless of a user who is suspended. */
  async find(hash: string, at: Date): Promise<Authenticated | undefined> {
    const [row] = await database.query<Authenticated>(authenticate, [hash, at]);
    return row;
  },
});
