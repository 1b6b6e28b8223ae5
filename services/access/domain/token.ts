import type { Problems } from "@statehouse/errors";
import type { OrganizationId, TeamId, TokenId, UserId } from "./ids.ts";

/**
 * The slots of an owner's tokens: each has one token, except `described`, which has many. `plain`: the default token
 * of a team or organization. `audit-trails`: a token that authorizes nothing else.
 */
export const organizationSlots = ["plain", "audit-trails"] as const;
export type Slot = (typeof organizationSlots)[number] | "described";

/** A credential. Its secret is shown once and not stored. */
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
  /** sha-256 of the secret, in hex. */
  declare readonly hash: string;
  declare readonly description: string;
  declare readonly revision: bigint;
  /** Null if a service of the installation created the token. */
  declare readonly createdByType: string | null;
  declare readonly createdById: string | null;
  declare readonly createdAt: Date;
  declare readonly expiredAt: Date;
  declare readonly lastUsedAt: Date | null;

  constructor(fields: Token) {
    Object.assign(this, fields);
  }
}

const DESCRIPTION_LENGTH = 1000;
const DEFAULT_YEARS = 2;
const DAY_MS = 86_400_000;
/** The latest time that a timestamp of a document can represent. */
const LATEST_EXPIRY = new Date("9999-12-31T23:59:59.999Z");

/** The latest expiry of a token that is created at `at`; `maxDays` undefined: no limit. */
const latestExpiry = (at: Date, maxDays: number | undefined): Date =>
  maxDays === undefined ? LATEST_EXPIRY : new Date(at.getTime() + maxDays * DAY_MS);

/** The expiry of a token that is created without one: two years from now, or sooner if the installation limits it. */
export function defaultExpiry(createdAt: Date, maxDays?: number): Date {
  const expiry = new Date(createdAt);
  expiry.setUTCFullYear(createdAt.getUTCFullYear() + DEFAULT_YEARS);
  const latest = latestExpiry(createdAt, maxDays);
  return expiry < latest ? expiry : latest;
}

/** Checks the fields of a token created at `at`. */
export function checkToken(
  {
    type,
    slot,
    description,
    expiredAt,
  }: Pick<Token, "type" | "slot" | "description" | "expiredAt">,
  problems: Problems,
  { at, maxDays }: { at: Date; maxDays?: number | undefined },
): void {
  // PostgreSQL's text cannot contain NUL.
  if (description.length > DESCRIPTION_LENGTH || description.includes("\0")) {
    problems.add("description", "Description is invalid");
  } else if (type === "team" && slot === "described" && description.trim() === "") {
    problems.add("description", "Description can't be blank");
  }
  // The second condition also refuses invalid dates, because comparisons with NaN are false.
  if (expiredAt <= at) problems.add("expiredAt", "Expired at must be in the future");
  else if (!(expiredAt <= LATEST_EXPIRY)) problems.add("expiredAt", "Expired at is invalid");
  else if (maxDays !== undefined && expiredAt > latestExpiry(at, maxDays)) {
    problems.add("expiredAt", `Expired at must be within ${maxDays} days`);
  }
}

export const tokenCreated = (token: Token) =>
  ({ type: "tokenCreated", revision: token.revision, token }) as const;

export const tokenDeleted = (token: Token, revision: bigint) =>
  ({ type: "tokenDeleted", revision, token }) as const;

export type TokenEvent = ReturnType<typeof tokenCreated | typeof tokenDeleted>;
