import type { Principal } from "@statehouse/authorization";
import type { Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, TeamId, TokenId, UserId } from "../ids-domain.ts";
import type { LimitedTokenType } from "../token-ttl-policy/domain.ts";

/**
 * The slots of an owner's tokens:
 * - `plain`: the default token of a team or organization.
 * - `audit-trails`: a token of an organization that authorizes only reading the organization's audit trail.
 * - `described`: additional tokens, distinguished by their descriptions.
 *
 * The slot `described` can have many tokens; each other slot has at most one.
 */
export const organizationSlots = ["plain", "audit-trails"] as const;
export type Slot = (typeof organizationSlots)[number] | "described";

/** A user, team or organization token. Its secret is returned once and not stored. */
export class Token {
  declare readonly id: TokenId;
  declare readonly type: "user" | "team" | "organization";
  /** Set for a user token. */
  declare readonly userId: UserId | null;
  /** Set for a team token. */
  declare readonly teamId: TeamId | null;
  /** Set for an organization or team token. */
  declare readonly organizationId: OrganizationId | null;
  declare readonly slot: Slot;
  /** SHA-256 of the secret, in hex. */
  declare readonly hash: string;
  declare readonly description: string;
  declare readonly revision: bigint;
  /** Null if a service of the installation created the token. */
  declare readonly createdByType: string | null;
  declare readonly createdById: string | null;
  declare readonly createdAt: Date;
  declare readonly expiredAt: Date;
  declare readonly lastUsedAt: Date | null;
}

/** A token as documents show it. */
export type TokenView = Omit<Token, "revision">;

/** The owner and slot of a token. An absent id is null in the token. */
export type TokenOwner = Pick<Token, "type" | "slot"> &
  Partial<Pick<Token, "userId" | "teamId" | "organizationId">>;

/** Creates a token. `creator` is undefined if a service of the installation creates it. */
export const newToken = (
  owner: TokenOwner,
  fields: Pick<Token, "hash" | "description" | "createdAt" | "expiredAt">,
  creator: Principal | undefined,
): Token =>
  newRow(Token, {
    userId: null,
    teamId: null,
    organizationId: null,
    ...owner,
    ...fields,
    id: newId("at"),
    revision: nextVersion(0n, fields.createdAt),
    createdByType: creator?.type ?? null,
    createdById: creator?.id ?? null,
    lastUsedAt: null,
  });

const DESCRIPTION_LENGTH = 1000;
const DEFAULT_YEARS = 2;
const DAY_MS = 86_400_000;
/** The latest time that a timestamp in a document can represent. */
const LATEST_EXPIRY = new Date("9999-12-31T23:59:59.999Z");

/** The limits on the lifetime of a new token; absent limits do not apply. */
interface LifetimeLimits {
  /** The installation's maximum, in days. */
  maxDays?: number | undefined;
  /** The organization's maximum for tokens of this type, in ms. */
  maxTtlMs?: bigint | undefined;
}

/**
 * Returns the latest expiry of a token that is created at `at` and can live for `limitMs`. If `limitMs` is undefined,
 * the token's lifetime is not limited.
 */
const latestExpiry = (at: Date, limitMs: number | undefined): Date =>
  limitMs === undefined
    ? LATEST_EXPIRY
    : new Date(Math.min(at.getTime() + limitMs, LATEST_EXPIRY.getTime()));

const inMs = (days: number | undefined) => (days === undefined ? undefined : days * DAY_MS);

/**
 * Returns the expiry of a token whose request does not set one: after the organization's maximum lifetime or, if the
 * organization does not limit lifetimes, after two years. The installation's maximum can make the expiry earlier.
 */
export function defaultExpiry(createdAt: Date, { maxDays, maxTtlMs }: LifetimeLimits = {}): Date {
  const twoYears = new Date(createdAt);
  twoYears.setUTCFullYear(createdAt.getUTCFullYear() + DEFAULT_YEARS);
  const expiry = maxTtlMs === undefined ? twoYears : latestExpiry(createdAt, Number(maxTtlMs));
  const latest = latestExpiry(createdAt, inMs(maxDays));
  return expiry < latest ? expiry : latest;
}

/** Checks the fields of a token that is created at `at`, and adds their problems to `problems`. */
export function checkToken(
  {
    type,
    slot,
    description,
    expiredAt,
  }: Pick<Token, "type" | "slot" | "description" | "expiredAt">,
  problems: Problems,
  { at, maxDays, maxTtlMs }: LifetimeLimits & { at: Date },
): void {
  // PostgreSQL's type `text` cannot contain U+0000.
  if (description.length > DESCRIPTION_LENGTH || description.includes("\0")) {
    problems.add("description", "Description is invalid");
  }
  // The second condition is negated so that it also rejects invalid dates: every comparison with NaN is false.
  if (expiredAt <= at) problems.add("expiredAt", "Expired at must be in the future");
  else if (!(expiredAt <= LATEST_EXPIRY)) problems.add("expiredAt", "Expired at is invalid");
  else if (expiredAt > latestExpiry(at, inMs(maxDays))) {
    problems.add("expiredAt", `Expired at must be within ${maxDays} days`);
  } else if (maxTtlMs !== undefined) {
    const latest = latestExpiry(at, Number(maxTtlMs));
    if (expiredAt <= latest) return;
    const policy = `the organization's maximum of ${maxTtlMs} ms for ${limitedType({ type, slot })} tokens`;
    problems.add(
      "expiredAt",
      `Expired at ${expiredAt.toISOString()} is too late; expected at most ${latest.toISOString()}, ${policy}.`,
    );
  }
}

/** Returns the type of token whose lifetime policy applies to a token. */
export const limitedType = ({ type, slot }: Pick<Token, "type" | "slot">): LimitedTokenType =>
  slot === "audit-trails" ? slot : type;

/** The keys by which a list of team tokens can be sorted. */
const tokenSortKeys = ["team-name", "created-by", "expired-at", "last-used-at"] as const;

/** The order of a list of team tokens. Tokens that have no value for the key are last in both directions. */
export interface TokenSort {
  key: (typeof tokenSortKeys)[number];
  descending: boolean;
}

/** Parses the order of a list; a leading `-` means descending. Returns undefined for an unknown order. */
export function tokenSortOf(text: string): TokenSort | undefined {
  const name = text.replace(/^-/, "");
  const key = tokenSortKeys.find((known) => known === name);
  return key && { key, descending: text.startsWith("-") };
}
