import type { FieldError } from "@statehouse/errors";
import {
  descriptionMissing,
  expiryNotInFuture,
  expiryTooLate,
  invalidDescription,
  invalidExpiry,
} from "./errors.ts";
import type { OrganizationId, TeamId, TokenId, UserId } from "./ids.ts";

/**
 * Of one owner there is one token in each slot but `described`, in which there are many. `plain`: a
 * team's or organization's one without a description. `audit-trails`: good for nothing else.
 */
export const organizationSlots = ["plain", "audit-trails"] as const;
export type Slot = (typeof organizationSlots)[number] | "described";

/** A credential. Its secret is shown once and not kept. */
export class Token {
  declare readonly id: TokenId;
  declare readonly type: "user" | "team" | "organization";
  /** Set for a user's. */
  declare readonly userId: UserId | null;
  /** Set for a team's. */
  declare readonly teamId: TeamId | null;
  /** Set for an organization's, and for a team's. */
  declare readonly organizationId: OrganizationId | null;
  declare readonly slot: Slot;
  /** sha-256 of the secret, in hex. */
  declare readonly hash: string;
  declare readonly description: string;
  declare readonly revision: bigint;
  /** Null when a service of the installation made it. */
  declare readonly createdByType: string | null;
  declare readonly createdById: string | null;
  declare readonly createdAt: Date;
  declare readonly expiredAt: Date;
  declare readonly lastUsedAt: Date | null;

  constructor(values: Token) {
    Object.assign(this, values);
  }
}

const DESCRIPTION_LENGTH = 1000;
const DEFAULT_YEARS = 2;
const DAY_MS = 86_400_000;
/** The last moment that a timestamp of the wire can write. */
const LATEST_EXPIRY = new Date("9999-12-31T23:59:59.999Z");

/** The last moment at which a token made now may expire; `maxDays` undefined: any. */
const latestExpiry = (at: Date, maxDays: number | undefined): Date =>
  maxDays === undefined ? LATEST_EXPIRY : new Date(at.getTime() + maxDays * DAY_MS);

/** When a token expires that nobody gave an expiry: in two years, or sooner where the installation says so. */
export function defaultExpiry(createdAt: Date, maxDays?: number): Date {
  const expiry = new Date(createdAt);
  expiry.setUTCFullYear(createdAt.getUTCFullYear() + DEFAULT_YEARS);
  const latest = latestExpiry(createdAt, maxDays);
  return expiry < latest ? expiry : latest;
}

/** What is wrong with a new token by itself. */
export function tokenProblems(
  {
    type,
    slot,
    description,
    expiredAt,
  }: Pick<Token, "type" | "slot" | "description" | "expiredAt">,
  at: Date,
  maxDays?: number,
): FieldError[] {
  const problems: FieldError[] = [];
  // PostgreSQL's text cannot hold NUL.
  if (description.length > DESCRIPTION_LENGTH || description.includes("\0")) {
    problems.push(invalidDescription);
  } else if (type === "team" && slot === "described" && description.trim() === "") {
    problems.push(descriptionMissing);
  }
  // The second also refuses what is no date: comparisons with NaN are false.
  if (expiredAt <= at) problems.push(expiryNotInFuture);
  else if (!(expiredAt <= LATEST_EXPIRY)) problems.push(invalidExpiry);
  else if (maxDays !== undefined && expiredAt > latestExpiry(at, maxDays)) {
    problems.push(expiryTooLate(maxDays));
  }
  return problems;
}
