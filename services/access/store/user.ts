import { LockMode } from "@mikro-orm/core";
import type { FieldError } from "@statehouse/errors";
import {
  type Database,
  type EntityManager,
  offsetOf,
  type PageInput,
  queryIn,
  uniqueViolation,
} from "@statehouse/postgres";
import { emailTaken, noSuchUser, throwIfAny, usernameTaken } from "../domain/errors.ts";
import type { OrganizationId, UserId } from "../domain/ids.ts";
import { User } from "../domain/user.ts";
import { type CountedRow, counted, rowsOf } from "./counted.ts";
import { userSchema } from "./entities.ts";

const columnsWith = (
  username: string,
) => `id, ${username} as username, email, administrator, suspended,
  placeholder, version::text as version, created_at as "createdAt"`;
const columns = columnsWith("username");

type UserRow = Omit<User, "version"> & { version: string };

const toUser = (row: UserRow): User => new User({ ...row, version: BigInt(row.version) });

const sharing = `select from organization_memberships
    where user_id = users.id and organization_id = any($3)`;

/**
 * Of the users $1 the user $2 and those in one of the organizations $3. Who is invited and has not accepted has
 * no name there: an invitation must not tell whether its address is somebody's, and whose.
 */
export const batchOfUsers = `
  -- index: users_pkey, organization_memberships_user_id_organization_id_key
  select ${columnsWith(`case when id = $2 or exists (${sharing} and status = 'active') then username else id end`)}
  from users where id = any($1) and (id = $2 or exists (${sharing}))`;

export interface UserSearch {
  /** Part of the name or address; empty: any. */
  query: string;
  administrator: boolean | undefined;
  suspended: boolean | undefined;
  page: PageInput;
}

const sought = `not placeholder
  and (strpos(lower(username), lower($1)) > 0 or strpos(lower(email), lower($1)) > 0)
  and ($2::boolean is null or administrator = $2) and ($3::boolean is null or suspended = $3)`;

/** A page of all users, by name. */
const listOfUsers = `-- index: users_username_key
  ${counted(
    `select count(*)::int as total from users where ${sought}`,
    `select ${columns} from users where ${sought} order by lower(username) limit $4 offset $5`,
    "lower(listed.username)",
  )}`;

/** Reads of users outside any transaction. */
export const userReads = (database: Database) => ({
  async find(id: string): Promise<User | undefined> {
    const [row] = await database.query<UserRow>(
      // index: users_pkey
      `select ${columns} from users where id = $1`,
      [id],
    );
    return row && toUser(row);
  },

  async findByName(username: string): Promise<User | undefined> {
    const [row] = await database.query<UserRow>(
      // index: users_username_key
      `select ${columns} from users where lower(username) = lower($1)`,
      [username],
    );
    return row && toUser(row);
  },

  async list(search: UserSearch): Promise<{ users: User[]; total: number }> {
    const { administrator = null, suspended = null } = search;
    const { rows, total } = rowsOf(
      await database.query<CountedRow<UserRow>>(listOfUsers, [
        search.query,
        administrator,
        suspended,
        search.page.size,
        offsetOf(search.page),
      ]),
    );
    return { users: rows.map(toUser), total };
  },

  /** Those of `ids` that are `self` or in one of the organizations. */
  async batchShared(
    ids: readonly UserId[],
    self: string,
    organizationIds: readonly OrganizationId[],
  ): Promise<User[]> {
    const rows = await database.query<UserRow>(batchOfUsers, [ids, self, organizationIds]);
    return rows.map(toUser);
  },
});

/** Somebody may have taken the name or address since `taken` looked. */
async function unlessTaken(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (uniqueViolation(error, "users_username_key")) throwIfAny([usernameTaken]);
    if (uniqueViolation(error, "users_email_key")) throwIfAny([emailTaken]);
    throw error;
  }
}

/** Users inside a transaction. */
export const userRows = (em: EntityManager) => ({
  async getForUpdate(id: UserId): Promise<User> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const user = await em.findOne(userSchema, { id }, { lockMode });
    if (!user) throw noSuchUser();
    return user;
  },

  async exists(id: UserId): Promise<boolean> {
    // index: users_pkey
    const rows = await queryIn(em, "select from users where id = $1", [id]);
    return rows.length > 0;
  },

  async findByEmail(email: string): Promise<User | undefined> {
    const [row] = await queryIn<{ id: UserId }>(
      em,
      // index: users_email_key
      "select id from users where lower(email) = lower($1)",
      [email],
    );
    return row && this.getForUpdate(row.id);
  },

  /** How many of the active users administer the installation, all of them locked. */
  async administrators(): Promise<number> {
    const rows = await queryIn(
      em,
      "select id from users where administrator and not suspended order by id for update",
      [],
    );
    return rows.length;
  },

  /** What of a name and an address somebody else has already; null is nobody's. */
  async taken(
    username: string | null,
    email: string | null,
    self: string = "",
  ): Promise<FieldError[]> {
    const [found] = await queryIn<{ username: boolean; email: boolean }>(
      em,
      // index: users_username_key, users_email_key
      `select exists (select from users where lower(username) = lower($1) and id <> $3) as username,
              exists (
                select from users where lower(email) = lower($2) and id <> $3 and not placeholder
              ) as email`,
      [username, email, self],
    );
    return [...(found?.username ? [usernameTaken] : []), ...(found?.email ? [emailTaken] : [])];
  },

  async add(user: User): Promise<void> {
    await unlessTaken(em.insert(userSchema, { ...user }));
  },

  async save({ id, createdAt: _, ...user }: User): Promise<void> {
    await unlessTaken(em.nativeUpdate(userSchema, { id }, { ...user }));
  },
});
