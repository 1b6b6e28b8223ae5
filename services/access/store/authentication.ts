import type { Database } from "@statehouse/postgres";
import type { TokenId } from "../domain/ids.ts";
import type { Token } from "../domain/token.ts";
import { outlivesPolicy } from "./token-ttl-policy.ts";
import { organizationVersions, userTokenVersions } from "./versions.ts";

/** The principal that a token authenticates. */
export interface Authenticated {
  tokenId: TokenId;
  type: Token["type"];
  /** The id of the user, team or organization; for an audit-trails token its own id, which has no grants. */
  id: string;
  versions: string;
}

/** The type of token whose policy applies to a token of a team or organization. */
const limitedType = "case t.slot when 'audit-trails' then t.slot else t.type end";

const select = (columns: string, hash: string) => `
  -- index: tokens_hash_key, users_pkey, organizations_pkey, token_ttl_policies_pkey
  select ${columns} found."tokenId", found.type, found.id, found.versions
  from (
    select t.hash, t.id as "tokenId", t.type,
      case when t.slot = 'audit-trails' then t.id
        else coalesce(t.user_id, t.team_id, t.organization_id) end as id,
      case t.type when 'user' then ${userTokenVersions} else ${organizationVersions} end as versions,
      ${outlivesPolicy(limitedType, "$2::timestamptz")} as outlived
    from tokens t
    left join users u on u.id = t.user_id
    left join organizations o on o.id = t.organization_id
    where ${hash} and t.expired_at > $2 and u.suspended is not true
    -- Keeps the condition on policies out of the joins, which the planner would order by its estimate.
    offset 0
  ) found
  where not found.outlived`;

/** Called for every request: one statement with a few index lookups. */
export const authenticate = select("", "t.hash = $1");
/** Like the above, for several tokens. */
export const batchAuthenticate = select("found.hash,", "t.hash = any($1)");

const reads = (database: Database) => ({
  /** Returns the valid token with this hash, unless its user is suspended. */
  async find(hash: string, at: Date): Promise<Authenticated | undefined> {
    const [row] = await database.query<Authenticated>(authenticate, [hash, at]);
    return row;
  },

  /** Like the above for several hashes; the result is keyed by hash. */
  async batch(hashes: readonly string[], at: Date): Promise<Map<string, Authenticated>> {
    const rows = await database.query<Authenticated & { hash: string }>(batchAuthenticate, [
      hashes,
      at,
    ]);
    return new Map(rows.map(({ hash, ...found }) => [hash, found]));
  },
});

export const authentication = { reads };
