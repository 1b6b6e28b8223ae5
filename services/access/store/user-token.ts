import { LockMode } from "@mikro-orm/core";
import { type Database, type EntityManager, offsetOf, type PageInput } from "@statehouse/postgres";
import { noSuchUserToken } from "../domain/errors.ts";
import type { UserTokenId } from "../domain/ids.ts";
import { UserToken } from "../domain/user-token.ts";
import { userTokenSchema } from "./entities.ts";

const columns = `t.id, t.user_id as "userId", t.hash, t.description, t.revision::text as revision,
  t.created_by_user_id as "createdByUserId", t.created_at as "createdAt",
  t.expired_at as "expiredAt", t.last_used_at as "lastUsedAt"`;

type UserTokenRow = Omit<UserToken, "revision"> & { revision: string };

const toUserToken = (row: UserTokenRow): UserToken =>
  new UserToken({ ...row, revision: BigInt(row.revision) });

export interface UserTokenPage {
  userTokens: UserToken[];
  totalCount: number;
}

/** A page of the tokens of user $1, with how many there are. */
export const listOfUser = `
  -- index: user_tokens_by_user, for both
  select counted.total, listed.*
   from (select count(*)::int as total from user_tokens where user_id = $1) counted
   left join lateral (
     select ${columns} from user_tokens t where t.user_id = $1
     order by t.created_at, t.id limit $2 offset $3
   ) listed on true
   order by listed."createdAt", listed.id`;

/** Reads of tokens outside any transaction. */
export const userTokenReads = (database: Database) => ({
  async find(id: UserTokenId): Promise<UserToken | undefined> {
    const [row] = await database.query<UserTokenRow>(
      // index: user_tokens_pkey
      `select ${columns} from user_tokens t where t.id = $1`,
      [id],
    );
    return row && toUserToken(row);
  },

  /** A user's tokens, oldest first; the true count also past the end. */
  async listOfUser(userId: string, page: PageInput): Promise<UserTokenPage> {
    const rows = await database.query<{ total: number } & (UserTokenRow | { id: null })>(
      listOfUser,
      [userId, page.size, offsetOf(page)],
    );
    return {
      userTokens: rows.flatMap(({ total: _, ...row }) =>
        row.id === null ? [] : [toUserToken(row)],
      ),
      totalCount: rows[0]?.total ?? 0,
    };
  },
});

/** Tokens inside a transaction. */
export const userTokenRows = (em: EntityManager) => ({
  async getForUpdate(id: UserTokenId): Promise<UserToken> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const userToken = await em.findOne(userTokenSchema, { id }, { lockMode });
    if (!userToken) throw noSuchUserToken();
    return userToken;
  },

  async add(userToken: UserToken): Promise<void> {
    await em.insert(userTokenSchema, { ...userToken });
  },

  async delete({ id }: UserToken): Promise<void> {
    await em.nativeDelete(userTokenSchema, { id });
  },
});
