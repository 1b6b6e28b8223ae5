import { LockMode } from "@mikro-orm/core";
import {
  type Database,
  type EntityManager,
  offsetOf,
  type PageInput,
  queryIn,
  uniqueViolation,
} from "@statehouse/postgres";
import { descriptionTaken, noSuchToken, throwIfAny } from "../domain/errors.ts";
import type { OrganizationId, TeamId, TokenId } from "../domain/ids.ts";
import { type Slot, Token } from "../domain/token.ts";
import { type CountedRow, counted, rowsOf } from "./counted.ts";
import { tokenSchema } from "./entities.ts";

const columns = `t.id, t.type, t.user_id as "userId", t.team_id as "teamId",
  t.organization_id as "organizationId", t.slot, t.hash, t.description,
  t.revision::text as revision, t.created_by_type as "createdByType",
  t.created_by_id as "createdById", t.created_at as "createdAt", t.expired_at as "expiredAt",
  t.last_used_at as "lastUsedAt"`;

type TokenRow = Omit<Token, "revision"> & { revision: string };

const toToken = (row: TokenRow): Token => new Token({ ...row, revision: BigInt(row.revision) });

export interface TokenPage {
  tokens: Token[];
  total: number;
}

const list = (where: string): string =>
  counted(
    `select count(*)::int as total from tokens t where ${where}`,
    `select ${columns} from tokens t where ${where} order by t.created_at, t.id limit $2 offset $3`,
    `listed."createdAt", listed.id`,
  );

/** A page of the tokens of user $1, with the total. */
export const listOfUser = `-- index: tokens_by_user, for both
  ${list("t.user_id = $1")}`;

/** The same for the tokens of organization $1's teams: all except the owners' if $4, otherwise of the teams $5. */
export const listOfTeamTokens = `-- index: tokens_by_organization, teams_pkey, for both
  ${list(`t.organization_id = $1 and t.type = 'team' and exists (
    select from teams where teams.id = t.team_id
      and ($4 or ($8 and teams.id = any($5) and teams.allow_member_token_management)
        or ($6 and not teams.owners
          and ($7 or teams.visibility = 'organization' or teams.id = any($5)))))`)}`;

/** The token in slot $3 of organization $1 or of its team $2. */
export const tokenInSlot = `-- index: tokens_slot_key
  select ${columns} from tokens t
  where t.organization_id = $1 and coalesce(t.team_id, '') = $2 and t.slot = $3
    and t.type <> 'user' and t.slot <> 'described'`;

/** The owners of the tokens in a list of team tokens. */
export interface TokenViewer {
  owner: boolean;
  teamIds: readonly string[];
  /** A member's own team, if the teams' settings permit it: a user. */
  trustedMember: boolean;
  /** Of all visible teams, except the owners'. */
  managesTeams: boolean;
  seesSecretTeams: boolean;
}

/** Reads of tokens outside any transaction. */
export const tokenReads = (database: Database) => ({
  async find(id: TokenId): Promise<Token | undefined> {
    const [row] = await database.query<TokenRow>(
      // index: tokens_pkey
      `select ${columns} from tokens t where t.id = $1`,
      [id],
    );
    return row && toToken(row);
  },

  async inSlot(
    organizationId: OrganizationId,
    teamId: TeamId | null,
    slot: string,
  ): Promise<Token | undefined> {
    const [row] = await database.query<TokenRow>(tokenInSlot, [organizationId, teamId ?? "", slot]);
    return row && toToken(row);
  },

  /** A user's tokens, oldest first; the total is also correct past the end. */
  async listOfUser(userId: string, page: PageInput): Promise<TokenPage> {
    const { rows, total } = rowsOf(
      await database.query<CountedRow<TokenRow>>(listOfUser, [userId, page.size, offsetOf(page)]),
    );
    return { tokens: rows.map(toToken), total };
  },

  async listOfTeams(
    organizationId: OrganizationId,
    { owner, teamIds, trustedMember, managesTeams, seesSecretTeams }: TokenViewer,
    page: PageInput,
  ): Promise<TokenPage> {
    const { rows, total } = rowsOf(
      await database.query<CountedRow<TokenRow>>(listOfTeamTokens, [
        organizationId,
        page.size,
        offsetOf(page),
        owner,
        teamIds,
        managesTeams,
        seesSecretTeams,
        trustedMember,
      ]),
    );
    return { tokens: rows.map(toToken), total };
  },
});

/** Tokens inside a transaction. */
export const tokenRows = (em: EntityManager) => ({
  async getForUpdate(id: TokenId): Promise<Token> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const token = await em.findOne(tokenSchema, { id }, { lockMode });
    if (!token) throw noSuchToken();
    return token;
  },

  /** Under the lock of the organization's row, which every transaction that fills a slot holds. */
  async findInSlot(
    organizationId: OrganizationId,
    teamId: TeamId | null,
    slot: Slot,
  ): Promise<Token | undefined> {
    const [row] = await queryIn<TokenRow>(em, tokenInSlot, [organizationId, teamId ?? "", slot]);
    return row && toToken(row);
  },

  async add(token: Token): Promise<void> {
    try {
      await em.insert(tokenSchema, { ...token });
    } catch (error) {
      if (uniqueViolation(error, "tokens_description_key")) throwIfAny([descriptionTaken]);
      throw error;
    }
  },

  async delete({ id }: Pick<Token, "id">): Promise<void> {
    await em.nativeDelete(tokenSchema, { id });
  },
});
