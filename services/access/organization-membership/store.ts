import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  loadBoth,
  offsetOf,
  queryIn,
  recordsOf,
  selectRows,
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
import { organizationMembershipNotFound } from "../errors-domain.ts";
import {
  isUserId,
  type OrganizationId,
  type OrganizationMembershipId,
  type TeamId,
  type UserId,
} from "../ids-domain.ts";
import type { Organization } from "../organization/domain.ts";
import { lockOrganizationOf } from "../organization/store.ts";
import { versionOf } from "../organization-version-store.ts";
import { OrganizationMembership, type OrganizationMembershipSort } from "./domain.ts";

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
export type OrganizationMembershipView = OrganizationMembership & {
  email: string;
  teams: { id: TeamId; visibility: string }[];
};

const select = `${selectList("ou", columns)}, u.email, (
    select coalesce(json_agg(json_build_object('id', t.id, 'visibility', t.visibility)
      order by t.name), '[]')
    from team_members m join teams t on t.id = m.team_id
    where m.user_id = ou.user_id and m.organization_id = ou.organization_id
  ) as teams`;

const fromTable = (memberships: string) =>
  `from ${memberships} ou join users u on u.id = ou.user_id`;

const from = fromTable("organization_memberships");

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
  batch: (ids: readonly OrganizationMembershipId[]): Promise<OrganizationMembershipView[]> =>
    database.query(batchOfMemberships, [ids]),

  async get(id: OrganizationMembershipId): Promise<OrganizationMembershipView> {
    const [view] = await this.batch([id]);
    if (!view) throw organizationMembershipNotFound();
    return view;
  },

  /** Returns a page of the user's accepted memberships, without those in `withheld` organizations. */
  listOwn: (
    userId: UserId,
    withheld: readonly string[],
    page: PageInput,
  ): Promise<Page<OrganizationMembershipView>> =>
    database.page(listOfOwnMemberships, [userId, withheld, page.size, offsetOf(page)]),

  list: (search: OrganizationMembershipSearch): Promise<Page<OrganizationMembershipView>> =>
    database.page(listOfMemberships(search.sort), [
      search.organizationId,
      search.query,
      search.seesEmails,
      search.emails.map((email) => email.toLowerCase()),
      search.status,
      search.page.size,
      offsetOf(search.page),
      search.teamId ?? "",
    ]),
});

/**
 * The members of an organization that a request names: by username, ignoring case, or user id (`users`), or by the ids
 * of their memberships.
 */
export interface NamedMembers {
  users: readonly string[];
  organizationMembershipIds: readonly string[];
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
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, organizationMembershipNotFound);

  return {
    ...records,

    /** Locks the organization of a membership, then the membership, and returns both. */
    async getWithOrganization(
      id: OrganizationMembershipId,
    ): Promise<{ membership: OrganizationMembership; organization: Organization }> {
      const [[organization], [membership]] = await loadBoth(
        em,
        lockOrganizationOf(em, "organization_memberships", id),
        selectRows(em, entity, { id }, { lock: "update" }),
      );
      if (!organization || !membership) throw organizationMembershipNotFound();
      return { membership, organization };
    },

    /** Locks the memberships of a user and returns them. */
    ofUser: (userId: UserId): Promise<OrganizationMembership[]> =>
      // index: organization_memberships_user_id_organization_id_key
      records.list({ userId }, { order: ["organizationId"], lock: "update" }),

    async usersNamed(
      organizationId: OrganizationId,
      { users, organizationMembershipIds }: NamedMembers,
    ): Promise<{ id: UserId; username: string; membershipId: OrganizationMembershipId }[]> {
      const names = users.filter((user) => !isUserId(user)).map((name) => name.toLowerCase());
      const ids = users.filter(isUserId);
      return queryIn(em, membersNamed, [organizationId, names, ids, organizationMembershipIds]);
    },

    /** Writes the membership and commits. Returns the membership with the e-mail address and teams of its user. */
    commit: (membership: OrganizationMembership): Promise<OrganizationMembershipView> =>
      // index: users_pkey, team_members_by_user
      records.commit(membership, `select ${select} ${fromTable("changed")}`),
  };
};

type Membership = Pick<OrganizationMembership, "id" | "organizationId" | "userId">;

// The revision of these events is the version of the organization.

const fieldsOf = ({ id, organizationId, userId }: Membership, revision: bigint) => ({
  organizationMembershipId: id,
  organizationId,
  userId,
  revision,
});

export const organizationMembershipInvited = (membership: Membership, revision: bigint) =>
  published(OrganizationMembershipInvitedSchema, membership.id, fieldsOf(membership, revision));

/** Creates the event for the mail sender. No other event contains the address or the secret. */
export const invitationCreated = (
  membership: Membership,
  mail: { email: string; secret: string },
  revision: bigint,
) =>
  published(InvitationCreatedSchema, membership.id, { ...fieldsOf(membership, revision), ...mail });

export const organizationMembershipActivated = (membership: Membership, revision: bigint) =>
  published(OrganizationMembershipActivatedSchema, membership.id, fieldsOf(membership, revision));

export const organizationMembershipDeleted = (membership: Membership, revision: bigint) =>
  published(OrganizationMembershipDeletedSchema, membership.id, fieldsOf(membership, revision));

export const memberships = {
  entity,
  reads,
  rows,
  deletedWithOrganization: "organization_memberships",
  listed: listed({
    schemas: [OrganizationMembershipInvitedSchema, OrganizationMembershipActivatedSchema],
    // index: organization_memberships_pkey, organizations_pkey
    from: "organization_memberships t",
    columns: `t.id, t.organization_id as "organizationId", t.user_id as "userId", t.status`,
    revision: versionOf("t.organization_id"),
    events: (membership: Membership & { status: string; revision: bigint }) => [
      membership.status === "active"
        ? organizationMembershipActivated(membership, membership.revision)
        : organizationMembershipInvited(membership, membership.revision),
    ],
  }),
};
