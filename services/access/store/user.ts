import { LockMode } from "@mikro-orm/core";
import type { FieldError } from "@statehouse/errors";
import { type Database, type EntityManager, queryIn, uniqueViolation } from "@statehouse/postgres";
import { emailTaken, noSuchUser, throwIfAny, usernameTaken } from "../domain/errors.ts";
import type { OrganizationId, UserId } from "../domain/ids.ts";
import { User } from "../domain/user.ts";
import { userSchema } from "./entities.ts";

const columns = `id, username, email, administrator, suspended, version::text as version,
  created_at as "createdAt"`;

type UserRow = Omit<User, "version"> & { version: string };

const toUser = (row: UserRow): User => new User({ ...row, version: BigInt(row.version) });

/** Of the users $1 the user $2 and those in one of the organizations $3. */
export const batchOfUsers = `
  -- index: users_pkey, team_members_by_user
  select ${columns} from users
  where id = any($1) and (id = $2 or exists (
    select from team_members
    where user_id = users.id and organization_id = any($3)))`;

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

  /** What of a name and an address somebody has already; null is nobody's. */
  async taken(username: string | null, email: string | null): Promise<FieldError[]> {
    const [found] = await queryIn<{ username: boolean; email: boolean }>(
      em,
      // index: users_username_key, users_email_key
      `select exists (select from users where lower(username) = lower($1)) as username,
              exists (select from users where lower(email) = lower($2)) as email`,
      [username, email],
    );
    return [...(found?.username ? [usernameTaken] : []), ...(found?.email ? [emailTaken] : [])];
  },

  async add(user: User): Promise<void> {
    try {
      await em.insert(userSchema, { ...user });
    } catch (error) {
      // Somebody took it since `taken` looked.
      if (uniqueViolation(error, "users_username_key")) throwIfAny([usernameTaken]);
      if (uniqueViolation(error, "users_email_key")) throwIfAny([emailTaken]);
      throw error;
    }
  },
});
