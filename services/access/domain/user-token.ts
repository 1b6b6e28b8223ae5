import type { FieldError } from "@statehouse/errors";
import { expiryNotInFuture, invalidDescription, invalidExpiry } from "./errors.ts";
import type { UserId, UserTokenId } from "./ids.ts";

/** A user's credential. Its secret is shown once and not kept. */
export class UserToken {
  declare readonly id: UserTokenId;
  declare readonly userId: UserId;
  /** sha-256 of the secret, in hex. */
  declare readonly hash: string;
  declare readonly description: string;
  declare readonly revision: bigint;
  /** Null when a service of the installation made it. */
  declare readonly createdByUserId: UserId | null;
  declare readonly createdAt: Date;
  declare readonly expiredAt: Date;
  declare readonly lastUsedAt: Date | null;

  constructor(values: UserToken) {
    Object.assign(this, values);
  }
}

const DESCRIPTION_LENGTH = 1000;
const DEFAULT_YEARS = 2;
/** The last moment that a timestamp of the wire can write. */
const LATEST_EXPIRY = new Date("9999-12-31T23:59:59.999Z");

/** When a token expires that nobody gave an expiry. */
export function defaultExpiry(createdAt: Date): Date {
  const expiry = new Date(createdAt);
  expiry.setUTCFullYear(createdAt.getUTCFullYear() + DEFAULT_YEARS);
  return expiry;
}

/** What is wrong with a new token. */
export function userTokenProblems(
  { description, expiredAt }: Pick<UserToken, "description" | "expiredAt">,
  at: Date,
): FieldError[] {
  const problems: FieldError[] = [];
  // PostgreSQL's text cannot hold NUL.
  if (description.length > DESCRIPTION_LENGTH || description.includes("\0")) {
    problems.push(invalidDescription);
  }
  // The second also refuses what is no date: comparisons with NaN are false.
  if (expiredAt <= at) problems.push(expiryNotInFuture);
  else if (!(expiredAt <= LATEST_EXPIRY)) problems.push(invalidExpiry);
  return problems;
}
