import type { Database } from "@statehouse/postgres";
import type { UserId, UserTokenId } from "../domain/ids.ts";
import { userVersions } from "./versions.ts";

/** Whom a token speaks for. */
export interface Authenticated {
  tokenId: UserTokenId;
  userId: UserId;
  versions: string;
}

/** On every request's path: one statement, a few index lookups. */
export const authenticate = `
  -- index: user_tokens_hash_key, users_pkey
  select t.id as "tokenId", u.id as "userId", ${userVersions} as versions
  from user_tokens t join users u on u.id = t.user_id
  where t.hash = $1 and t.expired_at > $2 and not u.suspended`;

export const authenticationReads = (database: Database) => ({
  /** The living token with this hash, of a user who is not suspended. */
  async find(hash: string, at: Date): Promise<Authenticated | undefined> {
    const [row] = await database.query<Authenticated>(authenticate, [hash, at]);
    return row;
  },
});
