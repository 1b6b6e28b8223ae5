import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  offsetOf,
  queryIn,
  recordsOf,
  withTotal,
} from "@statehouse/postgres";
import {
  bigint,
  optional,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import { newRow } from "@statehouse/postgres/new-row";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import {
  TokenCreatedSchema,
  TokenDeletedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { tokenDescriptionTaken, tokenNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId, TokenId, UserId } from "../ids-domain.ts";
import { type Slot, Token, type TokenSort, type TokenView } from "./domain.ts";

const columns = {
  id: primaryKey,
  type: text,
  userId: optional(text),
  teamId: optional(text),
  organizationId: optional(text),
  slot: text,
  hash: text,
  description: text,
  revision: bigint,
  createdByType: optional(text),
  createdById: optional(text),
  createdAt: timestamptz,
  expiredAt: timestamptz,
  lastUsedAt: optional(timestamptz),
};

const entity = new EntitySchema({ class: Token, tableName: "tokens", properties: columns });

const { revision: _revision, ...viewColumns } = columns;

const select = `select ${selectList("t", viewColumns)} from tokens t`;

/** SQL: the values by which team tokens are sorted. */
const sortValues: Readonly<Record<TokenSort["key"], string>> = {
  "team-name": "(select lower(s.name) from teams s where s.id = t.team_id)",
  "created-by": "t.created_by_id",
  "expired-at": "t.expired_at",
  "last-used-at": "t.last_used_at",
};

/** Selects a page of the tokens of user $1, oldest first. */
export const listOfUser = `-- index: tokens_by_user, for both
  ${withTotal({
    count: "select count(*)::int as total from tokens t where t.user_id = $1",
    select: `${select} where t.user_id = $1 order by t.created_at, t.id limit $2 offset $3`,
    order: `listed."createdAt", listed.id`,
  })}`;

const visibleTeamTokens = `t.organization_id = $1 and t.type = 'team' and exists (
    select from teams where teams.id = t.team_id and strpos(lower(teams.name), lower($9)) > 0
      and ($4 or ($8 and teams.id = any($5) and teams.allow_member_token_management)
        or ($6 and not teams.owners
          and ($7 or teams.visibility = 'organization' or teams.id = any($5)))))
    and (cardinality($10::text[]) = 0
      or ('expired' = any($10) and t.expired_at <= $11)
      or (t.expired_at > $11 and ('active' = any($10)
        or ('expiring_in_7_days' = any($10) and t.expired_at <= $11 + interval '7 days')
        or ('expiring_in_30_days' = any($10) and t.expired_at <= $11 + interval '30 days'))))`;

/**
 * Selects a page of team tokens in organization $1. Includes only the tokens of teams whose names contain $9 and,
 * unless $4 is true, only tokens that the viewer is allowed to manage (`TokenViewer`). $10 are the expiry statuses to
 * match at the time $11. Every token has an expiry, so the status `no_expiration` matches no token.
 */
export function listOfTeamTokens(sort?: TokenSort): string {
  const direction = sort?.descending ? "desc" : "asc";
  const order = sort ? `${sortValues[sort.key]} ${direction} nulls last,` : "";
  return `-- index: tokens_by_organization, teams_pkey, for both
  ${withTotal({
    count: `select count(*)::int as total from tokens t where ${visibleTeamTokens}`,
    select: `select ${selectList("t", viewColumns)},
        row_number() over (order by ${order} t.created_at, t.id) as place
      from tokens t where ${visibleTeamTokens} order by place limit $2 offset $3`,
    order: "listed.place",
  })}`;
}

const inSlot = `t.organization_id = $1 and coalesce(t.team_id, '') = $2 and t.slot = $3
    and t.type <> 'user' and t.slot <> 'described'`;

/** Selects the token in slot $3 of team $2 in organization $1 or, if $2 is empty, of the organization itself. */
export const tokenInSlot = `-- index: tokens_slot_key
  ${select}
  where ${inSlot}`;

/** Deletes and returns the token that `tokenInSlot` selects. */
const removeFromSlot = `-- index: tokens_slot_key
  delete from tokens t where ${inSlot} returning ${selectList("t", columns)}`;

/** The values of a viewer that determine the teams whose tokens a list shows. */
export interface TokenViewer {
  owner: boolean;
  teamIds: readonly string[];
  /** Whether the viewer is a user. Users may manage the tokens of their own teams if these teams allow it. */
  trustedMember: boolean;
  /** Whether the viewer may manage all teams that it sees, except the owners team. */
  managesTeams: boolean;
  seesSecretTeams: boolean;
}

export interface TeamTokenSearch {
  /** Part of the team's name; empty matches all. */
  query: string;
  sort: TokenSort | undefined;
  /** A token must have one of these expiry statuses; an empty list matches all tokens. */
  expiryStatuses: readonly string[];
  /** The time for which the expiry statuses are determined. */
  at: Date;
  page: PageInput;
}

const reads = (database: Database) => ({
  async findInSlot(
    organizationId: OrganizationId,
    teamId: TeamId | null,
    slot: Slot,
  ): Promise<TokenView | undefined> {
    const [row] = await database.query<TokenView>(tokenInSlot, [
      organizationId,
      teamId ?? "",
      slot,
    ]);
    return row;
  },

  listOfUser: (userId: UserId, page: PageInput): Promise<Page<TokenView>> =>
    database.page(listOfUser, [userId, page.size, offsetOf(page)]),

  listOfTeams: (
    organizationId: OrganizationId,
    { owner, teamIds, trustedMember, managesTeams, seesSecretTeams }: TokenViewer,
    { query, sort, expiryStatuses, at, page }: TeamTokenSearch,
  ): Promise<Page<TokenView>> =>
    database.page(listOfTeamTokens(sort), [
      organizationId,
      page.size,
      offsetOf(page),
      owner,
      teamIds,
      managesTeams,
      seesSecretTeams,
      trustedMember,
      query,
      expiryStatuses,
      at,
    ]),
});

/** A token and the time of its latest use. */
export interface TokenUse {
  id: TokenId;
  at: Date;
}

/**
 * Sets the latest use of the tokens $1 to the times $2, unless a later use is stored. The rows are locked in the order
 * of their ids, to prevent deadlocks.
 */
export const recordUses = `
  -- index: tokens_pkey
  with used as (
    select u.id, u.at from unnest($1::text[], $2::timestamptz[]) as u (id, at)
    join tokens t on t.id = u.id
    order by t.id for no key update of t
  )
  update tokens t set last_used_at = greatest(t.last_used_at, used.at)
  from used where t.id = used.id`;

const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, tokenNotFound);

  return {
    ...records,

    /**
     * Deletes and returns the token in a slot. The transaction must hold the lock on the organization's row, because every
     * change of a slot locks that row.
     */
    async removeFromSlot(
      organizationId: OrganizationId,
      teamId: TeamId | null,
      slot: Slot,
    ): Promise<Token | undefined> {
      const [row] = await queryIn<TokenView & { revision: number }>(em, removeFromSlot, [
        organizationId,
        teamId ?? "",
        slot,
      ]);
      return row && newRow(Token, { ...row, revision: BigInt(row.revision) });
    },

    /** Locks the tokens of a user in the order of their ids, to prevent deadlocks, and returns them. */
    ofUser: (userId: UserId): Promise<Token[]> =>
      // index: tokens_by_user
      records.list({ userId }, { order: ["id"], lock: "update" }),

    async recordUses(uses: readonly TokenUse[]): Promise<void> {
      await queryIn(em, recordUses, [uses.map(({ id }) => id), uses.map(({ at }) => at)]);
    },
  };
};

type Owned = Pick<Token, "id" | "type" | "userId" | "teamId" | "organizationId" | "revision">;

const fieldsOf = ({ id, type, userId, teamId, organizationId, revision }: Owned) => ({
  tokenId: id,
  ownerType: type,
  ownerId: userId ?? teamId ?? organizationId ?? "",
  organizationId: organizationId ?? "",
  revision,
});

export const tokenCreated = (token: Owned) =>
  published(TokenCreatedSchema, token.id, fieldsOf(token));

export const tokenDeleted = (token: Token, revision: bigint) =>
  published(TokenDeletedSchema, token.id, { ...fieldsOf(token), revision });

export const tokens = {
  entity,
  reads,
  rows,
  uniqueErrors: { tokens_description_key: tokenDescriptionTaken },
  deletedWithOrganization: "tokens",
  listed: listed({
    schemas: [TokenCreatedSchema],
    // index: tokens_pkey
    from: "tokens t",
    columns: `t.id, t.type, t.user_id as "userId", t.team_id as "teamId",
      t.organization_id as "organizationId"`,
    organization: "coalesce(t.organization_id, '_')",
    events: (token: Owned) => [tokenCreated(token)],
  }),
};
