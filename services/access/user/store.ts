import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  existsIn,
  loadBoth,
  loadRows,
  offsetOf,
  queryIn,
  recordsOf,
  selectRows,
  selectWhere,
  withTotal,
} from "@statehouse/postgres";
import {
  bigint,
  boolean,
  optional,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import {
  UserCreatedSchema,
  UserDeletedSchema,
  UserUpdatedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { emailTaken, userNotFound, usernameTaken } from "../errors-domain.ts";
import type { TeamId, UserId } from "../ids-domain.ts";
import { type OwnerView, User, type UserView } from "./domain.ts";

const columns = {
  id: primaryKey,
  username: text,
  email: text,
  unconfirmedEmail: optional(text),
  administrator: boolean,
  suspended: boolean,
  placeholder: boolean,
  version: bigint,
  createdAt: timestamptz,
};

const entity = new EntitySchema({ class: User, tableName: "users", properties: columns });

const { version: _version, ...viewColumns } = columns;
const { username: _username, email: _email, ...publicColumns } = viewColumns;

const select = `select ${selectList("u", viewColumns)} from users u`;

/** Selects user $1. */
export const userById = `-- index: users_pkey
  ${select} where u.id = $1`;

/** Selects the user named $1, ignoring case. */
export const userByName = `-- index: users_username_key
  ${select} where lower(u.username) = lower($1)`;

const sharing = `select from organization_memberships m
    where m.user_id = u.id and m.organization_id = any($3)`;

/**
 * Selects the users among $1 who are user $2 or belong to one of the organizations $3. The username is empty unless the
 * user is $2 or has accepted a membership in one of these organizations: an invitation must not reveal whether its
 * address belongs to a user, or to which user. The e-mail address is empty unless the user is $2 or belongs to one of
 * the organizations $4.
 */
export const batchOfUsers = `
  -- index: users_pkey, organization_memberships_user_id_organization_id_key
  select ${selectList("u", publicColumns)},
    case when u.id = $2 or exists (${sharing} and m.status = 'active') then u.username else '' end
      as username,
    case when u.id = $2 or exists (select from organization_memberships m
      where m.user_id = u.id and m.organization_id = any($4)) then u.email else '' end as email
  from users u where u.id = any($1) and (u.id = $2 or exists (${sharing}))`;

export interface UserSearch {
  /** Part of the user's name or e-mail address; empty matches all users. */
  query: string;
  /** Undefined matches all users. */
  administrator: boolean | undefined;
  /** Undefined matches all users. */
  suspended: boolean | undefined;
  page: PageInput;
}

const matches = `not u.placeholder
  and (strpos(lower(u.username), lower($1)) > 0 or strpos(lower(u.email), lower($1)) > 0)
  and ($2::boolean is null or u.administrator = $2) and ($3::boolean is null or u.suspended = $3)`;

/** Selects a page of all users, ordered by name. */
export const listOfUsers = `-- index: users_username_key, for the page; the total reads the table
  ${withTotal({
    count: `select count(*)::int as total from users u where ${matches}`,
    select: `${select} where ${matches} order by lower(u.username) limit $4 offset $5`,
    order: "lower(listed.username)",
  })}`;

/** Selects the users who own one of the organizations $1, without those who have only been invited. */
export const ownersOfOrganizations = `-- index: teams_owners_key, team_members_pkey, users_pkey
  select t.organization_id as "organizationId", ${selectList("u", viewColumns)}
  from teams t join team_members m on m.team_id = t.id join users u on u.id = m.user_id
  where t.owners and t.organization_id = any($1) and not u.placeholder
  order by t.organization_id, lower(u.username)`;

const reads = (database: Database) => ({
  async find(id: UserId): Promise<UserView | undefined> {
    const [row] = await database.query<UserView>(userById, [id]);
    return row;
  },

  async findByName(username: string): Promise<UserView | undefined> {
    const [row] = await database.query<UserView>(userByName, [username]);
    return row;
  },

  list: ({ query, administrator, suspended, page }: UserSearch): Promise<Page<UserView>> =>
    database.page(listOfUsers, [
      query,
      administrator ?? null,
      suspended ?? null,
      page.size,
      offsetOf(page),
    ]),

  ownersOf: (organizationIds: readonly string[]): Promise<OwnerView[]> =>
    database.query(ownersOfOrganizations, [organizationIds]),

  /**
   * Returns the users among `ids` who are `self` or belong to one of the organizations `shared`. Only `self` and users
   * who belong to one of the organizations `managed` are returned with their e-mail addresses.
   */
  batchShared: (
    ids: readonly UserId[],
    self: string,
    { shared, managed }: { shared: readonly string[]; managed: readonly string[] },
  ): Promise<UserView[]> => database.query(batchOfUsers, [ids, self, shared, managed]),
});

/** Selects the id of the user with the e-mail address $1, ignoring case. */
export const userByEmail = `-- index: users_email_key
  select id from users where lower(email) = lower($1)`;

/** Selects the user other than $2 who has the name $1, ignoring case. */
export const otherUserByName = `-- index: users_username_key
  select from users where lower(username) = lower($1) and id <> $2`;

const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, userNotFound);
  const activeAdministrators = selectRows(
    em,
    entity,
    { administrator: true, suspended: false },
    { order: ["id"], lock: "update" },
  );

  return {
    ...records,

    async findIdByEmail(email: string): Promise<UserId | undefined> {
      const [row] = await queryIn<{ id: UserId }>(em, userByEmail, [email]);
      return row?.id;
    },

    async findByEmailForUpdate(email: string): Promise<User | undefined> {
      // The second statement is needed if the first one waited for the lock on a placeholder user, whose e-mail
      // address was meanwhile transferred to another user.
      // index: users_email_key
      const byEmail = selectWhere(em, entity, "lower(email) = lower($1)", [email], {
        lock: "update",
      });
      const [[first], [second]] = await loadBoth(em, byEmail, byEmail);
      return first ?? second;
    },

    /**
     * Deletes a placeholder that has no memberships and teams. The statement is sent at once, because its e-mail address
     * becomes that of another user in the same transaction.
     */
    async removePlaceholder({ id }: Pick<User, "id">): Promise<void> {
      // index: users_pkey
      await queryIn(em, "delete from users where id = $1", [id]);
    },

    /** Locks the members of a team in the order of their ids, to prevent deadlocks, and returns them. */
    membersForUpdate: (teamId: TeamId): Promise<User[]> =>
      loadRows(
        em,
        // index: team_members_pkey, users_pkey
        selectWhere(
          em,
          entity,
          "id in (select m.user_id from team_members m where m.team_id = $1)",
          [teamId],
          { order: ["id"], lock: "update" },
        ),
      ),

    /** Locks the active administrators of the installation, ordered by id, and returns their number. */
    async lockAdministrators(): Promise<number> {
      return (await loadRows(em, activeAdministrators)).length;
    },

    /** Locks the active administrators like `lockAdministrators`, then the user, who need not be one of them. */
    async getWithAdministrators(id: UserId): Promise<{ administrators: number; user: User }> {
      const [administrators, [user]] = await loadBoth(
        em,
        activeAdministrators,
        selectRows(em, entity, { id }, { lock: "update" }),
      );
      if (!user) throw userNotFound();
      return { administrators: administrators.length, user };
    },

    /** Returns whether a user other than `self` has the name, ignoring case. */
    nameTaken: (username: string, self: string): Promise<boolean> =>
      existsIn(em, otherUserByName, [username, self]),
  };
};

type Named = Pick<User, "id" | "username" | "version">;

const fieldsOf = ({ id, username, version }: Named) => ({
  userId: id,
  username,
  revision: version,
});

export const userCreated = (user: Named) => published(UserCreatedSchema, user.id, fieldsOf(user));

export const userUpdated = (user: User) =>
  published(UserUpdatedSchema, user.id, fieldsOf(user), user, {
    administrator: "is-admin",
    suspended: "is-suspended",
    placeholder: null,
  });

export const userDeleted = ({ id, version }: User) =>
  published(UserDeletedSchema, id, { userId: id, revision: version });

export const users = {
  entity,
  reads,
  rows,
  uniqueErrors: { users_username_key: usernameTaken, users_email_key: emailTaken },
  listed: listed({
    schemas: [UserCreatedSchema],
    // index: users_pkey
    from: "users t",
    columns: "t.id, t.username",
    organization: "'_'",
    revision: "t.version",
    events: ({ id, username, revision }: Omit<Named, "version"> & { revision: bigint }) => [
      userCreated({ id, username, version: revision }),
    ],
  }),
};
