import { EntitySchema, LockMode } from "@mikro-orm/core";
import { listed, type PublishedEvents, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  offsetOf,
  pageWithTotal,
  queryIn,
  type RowWithTotal,
  withTotal,
} from "@statehouse/postgres";
import { optional, primaryKey, selectList, text, timestamptz } from "@statehouse/postgres/columns";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import {
  OrganizationMembershipActivatedSchema,
  OrganizationMembershipDeletedSchema,
  OrganizationMembershipInvitedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { InvitationCreatedSchema } from "@statehouse/proto/statehouse/access/v1/mail";
import { organizationMembershipNotFound } from "../domain/errors.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId, UserId } from "../domain/ids.ts";
import {
  OrganizationMembership,
  type OrganizationMembershipEvent,
  type OrganizationMembershipSort,
} from "../domain/organization-membership.ts";
import { versionOf } from "./organization-version.ts";

const columns = {
  id: primaryKey,
  organizationId: text,
  userId: text,
  status: text,
  secretHash: optional(text),
  createdAt: timestamptz,
};

const entity = new EntitySchema({
  class: OrganizationMembership,
  tableName: "organization_memberships",
  properties: columns,
});

/** A membership, with the e-mail address and teams of its user. */
export interface OrganizationMembershipView {
  membership: OrganizationMembership;
  email: string;
  teams: { id: TeamId; visibility: string }[];
}

type MembershipRow = OrganizationMembership & Pick<OrganizationMembershipView, "email" | "teams">;

const select = `${selectList("ou", columns)}, u.email, (
    select coalesce(json_agg(json_build_object('id', t.id, 'visibility', t.visibility)
      order by t.name), '[]')
    from team_members m join teams t on t.id = m.team_id
    where m.user_id = ou.user_id and m.organization_id = ou.organization_id
  ) as teams`;

const from = "from organization_memberships ou join users u on u.id = ou.user_id";

const toView = ({ email, teams, ...membership }: MembershipRow): OrganizationMembershipView => ({
  membership: new OrganizationMembership(membership),
  email,
  teams,
});

export interface OrganizationMembershipSearch {
  organizationId: OrganizationId;
  /** Only memberships of the members of this team; undefined matches all memberships. */
  teamId: TeamId | undefined;
  /**
   * Part of the user's name or, with `seesEmails`, of the user's e-mail address; empty matches all users. Names of
   * invited users do not match.
   */
  query: string;
  seesEmails: boolean;
  /**
   * A user must have one of these e-mail addresses, ignoring case; an empty list matches all users. Without
   * `seesEmails`, no address matches.
   */
  emails: readonly string[];
  /** The status of the memberships; empty matches all. */
  status: string;
  sort: OrganizationMembershipSort | undefined;
  page: PageInput;
}

const matches = `ou.organization_id = $1
  and ($2 = '' or (ou.status = 'active' and strpos(lower(u.username), lower($2)) > 0)
    or ($3 and strpos(lower(u.email), lower($2)) > 0))
  and (cardinality($4::text[]) = 0 or ($3 and lower(u.email) = any($4)))
  and ($5 = '' or ou.status = $5)
  and ($8 = '' or exists (
    select from team_members m where m.team_id = $8 and m.user_id = ou.user_id))`;

/** Selects a page of an organization's memberships, oldest first unless they are sorted by status. */
export function listOfMemberships(sort?: OrganizationMembershipSort): string {
  const direction = sort?.descending ? "desc" : "asc";
  const by = (table: string) => (sort ? `${table}.status ${direction}, ` : "");
  return `-- index: organization_memberships_by_organization, users_pkey, team_members_pkey, for both
  ${withTotal({
    count: `select count(*)::int as total ${from} where ${matches}`,
    select: `select ${select} ${from} where ${matches}
      order by ${by("ou")}ou.created_at, ou.id limit $6 offset $7`,
    order: `${by("listed")}listed."createdAt", listed.id`,
  })}`;
}

/** Selects a page of the accepted memberships of user $1, without those in the organizations $2, oldest first. */
export const listOfOwnMemberships = `
  -- index: organization_memberships_user_id_organization_id_key, users_pkey
  ${withTotal({
    count: `select count(*)::int as total ${from}
      where ou.user_id = $1 and ou.status = 'active' and ou.organization_id <> all($2)`,
    select: `select ${select} ${from}
      where ou.user_id = $1 and ou.status = 'active' and ou.organization_id <> all($2)
      order by ou.created_at, ou.id limit $3 offset $4`,
    order: `listed."createdAt", listed.id`,
  })}`;

/** Selects the memberships $1. */
export const batchOfMemberships = `
  -- index: organization_memberships_pkey, users_pkey, team_members_by_user
  select ${select} ${from} where ou.id = any($1)`;

const reads = (database: Database) => ({
  async batch(ids: readonly OrganizationMembershipId[]): Promise<OrganizationMembershipView[]> {
    return (await database.query<MembershipRow>(batchOfMemberships, [ids])).map(toView);
  },

  async get(id: OrganizationMembershipId): Promise<OrganizationMembershipView> {
    const [view] = await this.batch([id]);
    if (!view) throw organizationMembershipNotFound();
    return view;
  },

  /** Returns a page of the user's accepted memberships, without those in `withheld` organizations. */
  async listOwn(
    userId: UserId,
    withheld: readonly string[],
    page: PageInput,
  ): Promise<Page<OrganizationMembershipView>> {
    const { rows, total } = pageWithTotal(
      await database.query<RowWithTotal<MembershipRow>>(listOfOwnMemberships, [
        userId,
        withheld,
        page.size,
        offsetOf(page),
      ]),
    );
    return { rows: rows.map(toView), total };
  },

  async list(search: OrganizationMembershipSearch): Promise<Page<OrganizationMembershipView>> {
    const { rows, total } = pageWithTotal(
      await database.query<RowWithTotal<MembershipRow>>(listOfMemberships(search.sort), [
        search.organizationId,
        search.query,
        search.seesEmails,
        search.emails.map((email) => email.toLowerCase()),
        search.status,
        search.page.size,
        offsetOf(search.page),
        search.teamId ?? "",
      ]),
    );
    return { rows: rows.map(toView), total };
  },
});

/** The names and ids by which a request names members of an organization. */
export interface MemberNames {
  ids: readonly UserId[];
  /** Case is ignored. */
  names: readonly string[];
  membershipIds: readonly string[];
}

/**
 * Selects the members of organization $1 with the names $2, user ids $3 or membership ids $4. Names match accepted
 * memberships only: an invitation must not reveal to which user an e-mail address belongs. The members are sorted by
 * user id, so that all transactions lock the users in the same order.
 */
export const membersNamed = `
  -- index: organization_memberships_by_organization, users_pkey
  select u.id, lower(u.username) as username, ou.id as "membershipId" ${from}
  where ou.organization_id = $1 and ((ou.status = 'active' and lower(u.username) = any($2))
    or u.id = any($3) or ou.id = any($4))
  order by u.id`;

/** Reads and writes memberships, inside a transaction that holds the lock on their organization's row. */
const rows = (em: EntityManager) => ({
  async getForUpdate(id: OrganizationMembershipId): Promise<OrganizationMembership> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const membership = await em.findOne(entity, { id }, { lockMode });
    if (!membership) throw organizationMembershipNotFound();
    return membership;
  },

  /** Returns a membership as this transaction has changed it, with the e-mail address and teams of its user. */
  async getView(id: OrganizationMembershipId): Promise<OrganizationMembershipView> {
    const [row] = await queryIn<MembershipRow>(em, batchOfMemberships, [[id]]);
    if (!row) throw organizationMembershipNotFound();
    return toView(row);
  },

  async exists(organizationId: OrganizationId, userId: UserId): Promise<boolean> {
    // index: organization_memberships_user_id_organization_id_key
    return (await em.count(entity, { organizationId, userId })) > 0;
  },

  /**
   * Returns the organization of a membership. The organization never changes, so it can be read before its row is
   * locked.
   */
  async getOrganizationId(id: OrganizationMembershipId): Promise<OrganizationId> {
    const fields = ["organizationId"] as const;
    const found = await em.findOne(entity, { id }, { fields, disableIdentityMap: true });
    if (!found) throw organizationMembershipNotFound();
    return found.organizationId;
  },

  /** Returns the user of a membership. The user can change until the membership is locked. */
  async getUserId(id: OrganizationMembershipId): Promise<UserId> {
    const fields = ["userId"] as const;
    const found = await em.findOne(entity, { id }, { fields, disableIdentityMap: true });
    if (!found) throw organizationMembershipNotFound();
    return found.userId;
  },

  async getIdOf(organizationId: OrganizationId, userId: UserId): Promise<OrganizationMembershipId> {
    // index: organization_memberships_user_id_organization_id_key
    const found = await em.findOne(entity, { organizationId, userId });
    if (!found) throw organizationMembershipNotFound();
    return found.id;
  },

  /**
   * Returns the organizations of a user, ordered by id. The list can change until these organizations and the user are
   * locked.
   */
  async organizationsOf(userId: UserId): Promise<OrganizationId[]> {
    // index: organization_memberships_user_id_organization_id_key
    const fields = ["organizationId"] as const;
    const found = await em.find(entity, { userId }, { fields, disableIdentityMap: true });
    return found.map(({ organizationId }) => organizationId).toSorted();
  },

  /** Locks the memberships of a user and returns them. */
  ofUser(userId: UserId): Promise<OrganizationMembership[]> {
    // index: organization_memberships_user_id_organization_id_key
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    return em.find(entity, { userId }, { lockMode, orderBy: { organizationId: "asc" } });
  },

  async usersNamed(
    organizationId: OrganizationId,
    { ids, names, membershipIds }: MemberNames,
  ): Promise<{ id: UserId; username: string; membershipId: OrganizationMembershipId }[]> {
    const lowerCase = names.map((name) => name.toLowerCase());
    return queryIn(em, membersNamed, [organizationId, lowerCase, ids, membershipIds]);
  },

  async save(membership: OrganizationMembership): Promise<void> {
    em.persist(membership);
    await em.flush();
  },

  async remove(membership: OrganizationMembership): Promise<void> {
    em.remove(membership);
    await em.flush();
  },
});

type Membership = Pick<OrganizationMembership, "id" | "organizationId" | "userId">;
type ListedMembership = Membership & { key: string; revision: number; status: string };

/**
 * Selects at most $3 memberships after the key $1 for the listing: those of organization $2, or of all organizations if
 * $2 is null.
 */
const listedMemberships = `-- index: organization_memberships_pkey, organizations_pkey
  select m.id as key, m.id, m.organization_id as "organizationId", m.user_id as "userId", m.status,
    ${versionOf("m.organization_id")} as revision
  from organization_memberships m
  where m.id > $1 and ($2::text is null or m.organization_id = $2) order by m.id limit $3`;

const fieldsOf = ({ id, organizationId, userId }: Membership) => ({
  organizationMembershipId: id,
  organizationId,
  userId,
});

export const memberships = {
  entity,
  reads,
  rows,
  deletedWithOrganization: "organization_memberships",
  listed: listed({
    schemas: [OrganizationMembershipInvitedSchema, OrganizationMembershipActivatedSchema],
    select: listedMemberships,
    events: (membership: ListedMembership) => [
      published(
        membership.status === "active"
          ? OrganizationMembershipActivatedSchema
          : OrganizationMembershipInvitedSchema,
        membership.id,
        fieldsOf(membership),
      ),
    ],
  }),
  published: {
    organizationMembershipInvited: ({ membership }) =>
      published(OrganizationMembershipInvitedSchema, membership.id, fieldsOf(membership)),
    invitationCreated: ({ membership, email, secret }) =>
      published(InvitationCreatedSchema, membership.id, {
        ...fieldsOf(membership),
        email,
        secret,
      }),
    organizationMembershipActivated: ({ membership }) =>
      published(OrganizationMembershipActivatedSchema, membership.id, fieldsOf(membership)),
    organizationMembershipDeleted: ({ membership }) =>
      published(OrganizationMembershipDeletedSchema, membership.id, fieldsOf(membership)),
  } satisfies PublishedEvents<OrganizationMembershipEvent>,
};
