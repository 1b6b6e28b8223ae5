import type { Database } from "@statehouse/postgres";
import type { TokenId } from "../ids-domain.ts";
import type { Token } from "../token/domain.ts";
import { outlivesPolicy } from "../token-ttl-policy/store.ts";
import { organizationVersions, userTokenVersions } from "../versions-store.ts";

/** The principal that a token authenticates. */
export interface Authenticated {
  tokenId: TokenId;
  type: Token["type"];
  /**
   * The id of the user, team or organization. An audit-trails token is its own principal: the principal's id is the
   * token's id, and it has no grants.
   */
  id: string;
  versions: string;
}

/** SQL expression for the type of token whose lifetime policy applies to a team or organization token. */
const limitedType = "case t.slot when 'audit-trails' then t.slot else t.type end";

const select = (columns: string, { where, index }: { where: string; index: string }) => `
  -- index: ${index}, users_pkey, organizations_pkey, token_ttl_policies_pkey
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
    where ${where} and t.expired_at > (select $2::timestamptz) and u.suspended is not true
    -- Keeps the condition on policies out of the joins, whose order would otherwise depend on the planner's estimate of
    -- it.
    offset 0
  ) found
  where not found.outlived`;

/** Selects the principal of a token. It is used for every request, so it is one statement with a few index lookups. */
export const authenticate = select("", { where: "t.hash = $1", index: "tokens_hash_key" });
/**
 * Selects the principals of several tokens. The subquery hides the number of tokens from the planner, which would
 * otherwise plan the statement at each use.
 */
export const batchAuthenticate = select("found.hash,", {
  where: "t.hash = any((select $1::text[])::text[])",
  index: "tokens_hash_key",
});

/** Selects the principal of the token with this id. */
export const authenticateTokenId = select("", { where: "t.id = $1", index: "tokens_pkey" });

const reads = (database: Database) => ({
  /**
   * Returns the principal of the valid token with this hash; undefined if there is no such token or its user is
   * suspended.
   */
  async find(hash: string, at: Date): Promise<Authenticated | undefined> {
    const [row] = await database.query<Authenticated>(authenticate, [hash, at]);
    return row;
  },

  /** Returns the principal of the valid token with this id, like `find`. */
  async findByTokenId(id: TokenId, at: Date): Promise<Authenticated | undefined> {
    const [row] = await database.query<Authenticated>(authenticateTokenId, [id, at]);
    return row;
  },

  /** Returns the principals of several tokens, by the hash of the token. */
  async batch(hashes: readonly string[], at: Date): Promise<Map<string, Authenticated>> {
    const rows = await database.query<Authenticated & { hash: string }>(batchAuthenticate, [
      hashes,
      at,
    ]);
    return new Map(rows.map(({ hash, ...found }) => [hash, found]));
  },
});

export const authentication = { reads };
