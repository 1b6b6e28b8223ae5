import type { Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import { isUserId, type OrganizationId, type UserId } from "../ids-domain.ts";

export class User {
  declare readonly id: UserId;
  /** Unique, ignoring case. */
  declare username: string;
  /**
   * Unique, ignoring case. Either an administrator or operator has set the address, or the user has proved that they
   * own it by accepting an invitation that was sent to it. For a placeholder, it is the invited address.
   */
  declare email: string;
  /**
   * The e-mail address that the user entered, but has not yet proved to be their own. Its only use is to accept an
   * invitation that was sent to it.
   */
  declare unconfirmedEmail: string | null;
  declare administrator: boolean;
  declare suspended: boolean;
  /**
   * Whether the user exists only because an address was invited. A placeholder has no tokens, and its username is
   * generated.
   */
  declare placeholder: boolean;
  /** Grows with every change of the user and of the user's memberships, except when an organization is deleted. */
  declare version: bigint;
  declare readonly createdAt: Date;
}

/** A user as documents show it. */
export type UserView = Omit<User, "version">;

/** A user as an owner of an organization. */
export interface OwnerView extends UserView {
  organizationId: OrganizationId;
}

// Only ASCII is allowed, so that "ignoring case" means the same here, in PostgreSQL and in every client.
const USERNAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const EMAIL = /^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/;
const EMAIL_LENGTH = 254;

/**
 * The names under which documents show the author of runs' states (statehouse-runs) and the principals of the tokens of
 * organizations and teams. A user with such a name could be mistaken for one of these.
 */
const RESERVED = /^(statehouse-runs$|api-org-|api-team-)/i;
const reservedText =
  "Username is reserved; names that begin with api-org- or api-team-, and statehouse-runs, belong to other accounts.";

/**
 * Returns whether `text` has the form of a username. User ids are not accepted: requests name members by username or
 * id, so a user whose username is another user's id could be added instead of that user.
 */
export const isUsername = (text: string): boolean =>
  USERNAME.test(text) && !isUserId(text.toLowerCase());

/** Returns whether `text` has the form of an e-mail address. */
export const isEmail = (text: string): boolean => EMAIL.test(text) && text.length <= EMAIL_LENGTH;

/** Checks the form of a user's name and e-mail address, and adds their problems to `problems`. */
export function checkUser(
  { username, email }: Pick<User, "username" | "email">,
  problems: Problems,
): void {
  if (!isUsername(username)) problems.add("username", "Username is invalid");
  else if (RESERVED.test(username)) problems.add("username", reservedText);
  checkEmail(email, problems);
}

export function checkEmail(email: string, problems: Problems): void {
  if (!isEmail(email)) problems.add("email", "Email is invalid");
}

export const newUser = (
  { username, email, administrator }: Pick<User, "username" | "email" | "administrator">,
  createdAt: Date,
): User =>
  newRow(User, {
    id: newId("user"),
    username,
    email,
    unconfirmedEmail: null,
    administrator,
    suspended: false,
    placeholder: false,
    version: nextVersion(0n, createdAt),
    createdAt,
  });

/** Creates a user of whom only the e-mail address is known. The user's id is also the username. */
export function newPlaceholderUser(email: string, createdAt: Date): User {
  const user = newUser({ username: "", email, administrator: false }, createdAt);
  return Object.assign(user, { username: user.id, placeholder: true });
}

export const isSameEmail = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

/**
 * Stores an e-mail address that the user has entered. If it equals the confirmed address, ignoring case, it is
 * confirmed too; otherwise it stays unconfirmed until the user proves that they own it.
 */
export function requestEmail(user: User, email: string): void {
  if (isSameEmail(user.email, email)) {
    user.email = email;
    user.unconfirmedEmail = null;
  } else user.unconfirmedEmail = email;
}

/**
 * Sets the confirmed e-mail address of a user who has proved that they own it, or for whom an administrator or operator
 * sets it.
 */
export function confirmEmail(user: User, email: string): void {
  user.email = email;
  user.unconfirmedEmail = null;
}
