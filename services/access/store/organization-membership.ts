import { LockMode } from "@mikro-orm/core";
import {
  type Database,
  type EntityManager,
  offsetOf,
  type PageInput,
  queryIn,
} from "@statehouse/postgres";
import { noSuchMembership } from "../domain/errors.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId, UserId } from "../domain/ids.ts";
import { OrganizationMembership } from "../domain/organization-membership.ts";
import { type CountedRow, counted, rowsOf } from "./counted.ts";
import { organizationMembershipSchema } from "./entities.ts";

/** A membership with what its document shows beside. */
export interface MembershipView {
  membership: OrganizationMembership;
  email: string;
  teams: { id: TeamId; visibility: string }[];
}

type MembershipRow = OrganizationMembership & Pick<MembershipView, "email" | "teams">;

const columns = `ou.id, ou.organization_id as "organizationId", ou.user_id as "userId", ou.status,
  ou.created_at as "createdAt", u.email, (
    select coalesce(json_agg(json_build_object('id', t.id, 'visibility', t.visibility)
      order by t.name), '[]')
    from team_members m join teams t on t.id = m.team_id
    where m.user_id = ou.user_id and m.organization_id = ou.organization_id
  ) as teams`;

const from = "from organization_memberships ou join users u on u.id = ou.user_id";

const toView = ({ email, teams, ...membership }: MembershipRow): MembershipView => ({
  membership: new OrganizationMembership({
    id: membership.id,
    organizationId: membership.organizationId,
    userId: membership.userId,
    status: membership.status,
    createdAt: membership.createdAt,
  }),
  email,
  teams,
});

export interface MembershipSearch {
  organizationId: OrganizationId;
  /** Part of a member's name, or, for those who may know them, of the address; empty: any. */
  query: string;
  seesEmails: boolean;
  /** Exact addresses, any of them; empty: any. */
  emails: readonly string[];
  /** Empty: any. */
  status: string;
  page: PageInput;
}

const sought = `ou.organization_id = $1
  and ($2 = '' or (ou.status = 'active' and strpos(lower(u.username), lower($2)) > 0)
    or ($3 and strpos(lower(u.email), lower($2)) > 0))
  and (cardinality($4::text[]) = 0 or ($3 and lower(u.email) = any($4)))
  and ($5 = '' or ou.status = $5)`;

/** A page of an organization's memberships, by age. */
export const listOfMemberships = `
  -- index: organization_memberships_by_organization, users_pkey, for both
  ${counted(
    `select count(*)::int as total ${from} where ${sought}`,
    `select ${columns} ${from} where ${sought} order by ou.created_at, ou.id limit $6 offset $7`,
    `listed."createdAt", listed.id`,
  )}`;

/** The memberships $1. */
export const batchOfMemberships = `
  -- index: organization_memberships_pkey, users_pkey, team_members_by_user
  select ${columns} ${from} where ou.id = any($1)`;

/** Reads of memberships outside any transaction. */
export const membershipReads = (database: Database) => ({
  async batch(ids: readonly OrganizationMembershipId[]): Promise<MembershipView[]> {
    return (await database.query<MembershipRow>(batchOfMemberships, [ids])).map(toView);
  },

  async list(search: MembershipSearch): Promise<{ memberships: MembershipView[]; total: number }> {
    const found = await database.query<CountedRow<MembershipRow>>(listOfMemberships, [
      search.organizationId,
      search.query,
      search.seesEmails,
      search.emails.map((email) => email.toLowerCase()),
      search.status,
      search.page.size,
      offsetOf(search.page),
    ]);
    const { rows, total } = rowsOf(found);
    return { memberships: rows.map(toView), total };
  },
});

/** Members of an organization, as a request names them. */
export interface Named {
  ids: readonly UserId[];
  /** Whatever their case. */
  names: readonly string[];
  membershipIds: readonly string[];
}

/** Memberships inside a transaction that holds their organization's row. */
export const membershipRows = (em: EntityManager) => ({
  async get(id: OrganizationMembershipId): Promise<OrganizationMembership> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const found = await em.findOne(organizationMembershipSchema, { id }, { lockMode });
    if (!found) throw noSuchMembership();
    return found;
  },

  async find(
    organizationId: OrganizationId,
    userId: UserId,
  ): Promise<OrganizationMembership | null> {
    // index: organization_memberships_user_id_organization_id_key
    return em.findOne(organizationMembershipSchema, { organizationId, userId });
  },

  /** The organization that a membership is of; it never changes. */
  async organizationOf(id: OrganizationMembershipId): Promise<OrganizationId> {
    const [row] = await queryIn<{ id: OrganizationId }>(
      em,
      // index: organization_memberships_pkey
      "select organization_id as id from organization_memberships where id = $1",
      [id],
    );
    if (!row) throw noSuchMembership();
    return row.id;
  },

  /**
   * Those of the users, by id or by name, and of the memberships, that are in the organization. Names find only who
   * has accepted: an invitation must not tell whose its address is.
   */
  async usersOf(
    organizationId: OrganizationId,
    { ids, names, membershipIds }: Named,
  ): Promise<{ id: UserId; username: string; membershipId: OrganizationMembershipId }[]> {
    return queryIn(
      em,
      // index: organization_memberships_by_organization, users_pkey. In one order, against deadlocks.
      `select u.id, lower(u.username) as username, ou.id as "membershipId" ${from}
       where ou.organization_id = $1 and ((ou.status = 'active' and lower(u.username) = any($2))
         or u.id = any($3) or ou.id = any($4))
       order by u.id`,
      [organizationId, names.map((name) => name.toLowerCase()), ids, membershipIds],
    );
  },

  async add(membership: OrganizationMembership): Promise<void> {
    await em.insert(organizationMembershipSchema, { ...membership });
  },

  async save({ id, status }: OrganizationMembership): Promise<void> {
    await em.nativeUpdate(organizationMembershipSchema, { id }, { status });
  },

  async delete({ id }: OrganizationMembership): Promise<void> {
    await em.nativeDelete(organizationMembershipSchema, { id });
  },
});
