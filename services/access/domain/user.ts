import type { FieldError } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { invalidEmail, invalidUsername } from "./errors.ts";
import { isUserId, type UserId } from "./ids.ts";

/** A person. */
export class User {
  declare readonly id: UserId;
  /** Unique without regard to case. */
  declare username: string;
  /** Unique without regard to case. */
  declare email: string;
  declare administrator: boolean;
  declare suspended: boolean;
  /** Somebody who was invited by address and is not known yet: no tokens, and the name is made up. */
  declare placeholder: boolean;
  /** Grows with every change of the user's memberships, suspension and administrator flag. */
  declare version: bigint;
  declare readonly createdAt: Date;

  constructor(values: User) {
    Object.assign(this, values);
  }
}

// ASCII only, so that "without regard to case" means the same here, in PostgreSQL and on every client.
const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const EMAIL = /^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/;
const EMAIL_LENGTH = 254;

/**
 * Whether a user could be called so. Not as somebody's id: people are put into teams by either, and who has taken
 * another's id for a name would come along.
 */
export const isUsername = (text: string): boolean =>
  USERNAME.test(text) && !isUserId(text.toLowerCase());

/** What is wrong with a new user's name and address by themselves. */
export function userProblems({ username, email }: Pick<User, "username" | "email">): FieldError[] {
  const problems: FieldError[] = [];
  if (!isUsername(username)) problems.push(invalidUsername);
  if (!EMAIL.test(email) || email.length > EMAIL_LENGTH) problems.push(invalidEmail);
  return problems;
}

/** Somebody of whom only the address is known. The name is theirs to choose later; nobody can log in as it. */
export const placeholderUser = (id: UserId, email: string, at: Date): User =>
  new User({
    id,
    username: id,
    email,
    administrator: false,
    suspended: false,
    placeholder: true,
    version: nextVersion(0n, at),
    createdAt: at,
  });
