import {
  allowed,
  type Caller,
  grantsOf,
  requireAdministrator,
  requireAdministratorUnlessService,
} from "@statehouse/authorization";
import { asRefusal, Problems } from "@statehouse/errors";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { callingUser } from "../caller-app.ts";
import {
  EMAIL_TAKEN,
  lastAdministrator,
  USERNAME_TAKEN,
  userInvitedMeanwhile,
  userNotFound,
} from "../errors-domain.ts";
import type { UserId } from "../ids-domain.ts";
import { adoptInvitations } from "../invitation/app.ts";
import type { Tx } from "../nouns.ts";
import { organizationMembershipDeleted } from "../organization-membership/store.ts";
import { refuseWithoutOwner } from "../team/app.ts";
import { teamMemberRemoved } from "../team-member/store.ts";
import { removeToken } from "../token/app.ts";
import { touch } from "../version-domain.ts";
import {
  checkEmail,
  checkUser,
  confirmEmail,
  isEmail,
  isUsername,
  newUser,
  type OwnerView,
  requestEmail,
  type User,
  type UserView,
} from "./domain.ts";
import { type UserSearch, userCreated, userDeleted, userUpdated } from "./store.ts";

/**
 * Creates a user. If this e-mail address was invited, its placeholder user becomes the user. Throws `invalid` if the
 * name or address is invalid or taken, and `notFound` for callers that are not administrators.
 */
export const createUser = (
  app: App,
  caller: Caller,
  input: Pick<User, "username" | "email" | "administrator">,
): Promise<User> =>
  app.transaction(async (tx) => {
    requireAdministratorUnlessService(caller);
    const at = app.now();
    const { username, email, administrator } = input;
    const invited = isEmail(email) ? await tx.users.findByEmailForUpdate(email) : undefined;
    await refuseProblems(tx, input, { emailTaken: invited?.placeholder === false });
    const user = invited ?? newUser(input, at);
    if (invited) {
      Object.assign(invited, { username, administrator, placeholder: false });
      confirmEmail(invited, email);
      touch(invited, at);
    }
    tx.users.save(user);
    await tx.record(userCreated(user));
    return user;
  });

/**
 * Makes the user with this name an administrator if the installation has no active administrator, and creates the user
 * if necessary. Returns undefined if the installation already has an active administrator. Throws `invalid`.
 */
export async function ensureAdministrator(
  app: App,
  { username, email }: { username: string; email: string },
): Promise<User | undefined> {
  const installation: Caller = { kind: "service", name: "operator" };
  const administrators = await app.transaction((tx) => tx.users.lockAdministrators());
  if (administrators > 0) return undefined;
  const known = isUsername(username) ? await app.reads.users.findByName(username) : undefined;
  return known
    ? setUserRights(app, installation, { id: known.id, administrator: true })
    : createUser(app, installation, { username, email, administrator: true });
}

/** Returns the user with this name, ignoring case. Throws `notFound`. */
export async function getUserByName(app: App, username: string): Promise<UserView> {
  const user = isUsername(username) ? await app.reads.users.findByName(username) : undefined;
  if (!user) throw userNotFound();
  return user;
}

/** Returns the calling user. Throws `notFound` for callers that are not users. */
export async function getCurrentUser(app: App, caller: Caller): Promise<UserView> {
  const id = callingUser(caller);
  const user = id === undefined ? undefined : await app.reads.users.find(id);
  if (!user) throw userNotFound();
  return user;
}

/**
 * Changes the calling user's name, and stores a new e-mail address as unconfirmed. The response does not depend on
 * whether another user has the address. Throws `invalid`, and throws `notFound` for callers that are not users.
 */
export const updateCurrentUser = (
  app: App,
  caller: Caller,
  { username, email }: { username: string | undefined; email: string | undefined },
): Promise<User> =>
  app.transaction(async (tx) => {
    const id = callingUser(caller);
    if (id === undefined) throw asRefusal(userNotFound());
    const user = await tx.users.getForUpdate(id);
    const names = { username: username ?? user.username, email: email ?? user.email };
    // An unconfirmed address is not compared with the addresses of other users, because the response would reveal
    // whether another user has the address.
    await refuseProblems(tx, names, { id, emailTaken: false });
    user.username = names.username;
    if (email !== undefined) requestEmail(user, email);
    touch(user, app.now());
    tx.users.save(user);
    await tx.record(userUpdated(user));
    return user;
  });

/**
 * Sets a user's confirmed e-mail address, and transfers to the user the invitations that were sent to this address.
 * Throws `notFound` or `addressInvitedMeanwhile`, and throws `invalid` if the address is invalid or taken.
 */
export const setUserEmail = (
  app: App,
  caller: Caller,
  { id, email }: { id: UserId; email: string },
): Promise<User> =>
  app.transaction(async (tx) => {
    requireAdministratorUnlessService(caller);
    const problems = new Problems();
    checkEmail(email, problems);
    problems.throwIfAny();
    const at = app.now();
    const invitedId = await tx.users.findIdByEmail(email);
    const organizations = invitedId && (await tx.organizations.ofUserForUpdate(invitedId));
    const invited = await tx.users.findByEmailForUpdate(email);
    const user = await tx.users.getForUpdate(id);
    if (invited?.placeholder) {
      await adoptInvitations(tx, invited, { user, organizations: organizations ?? new Map(), at });
    }
    confirmEmail(user, email);
    touch(user, at);
    tx.users.save(user);
    await tx.record(userUpdated(user));
    return user;
  });

/** Returns the calling user, or a user who shares an organization with the caller. Throws `notFound`. */
export async function getUser(app: App, caller: Caller, id: UserId): Promise<UserView> {
  const [user] = await batchGetUsers(app, caller, [id]);
  if (!user) throw userNotFound();
  return user;
}

/** Returns a page of all users of the installation. Throws `notFound` for callers that are not administrators. */
export async function listUsers(
  app: App,
  caller: Caller,
  search: UserSearch,
): Promise<Page<UserView>> {
  requireAdministrator(caller);
  return app.reads.users.list(search);
}

/** Returns the owners of the organizations. Throws `notFound` for callers that are not administrators. */
export async function batchListOrganizationOwners(
  app: App,
  caller: Caller,
  organizationIds: readonly string[],
): Promise<OwnerView[]> {
  requireAdministrator(caller);
  return app.reads.users.ownersOf(organizationIds);
}

/**
 * Returns the users among `ids` who share an organization with the caller, including the caller. Another user's e-mail
 * address is empty unless the caller may manage the memberships of an organization to which both belong. Another user's
 * name is empty unless the user has accepted the membership of an organization to which both belong.
 */
export async function batchGetUsers(
  app: App,
  caller: Caller,
  ids: readonly UserId[],
): Promise<UserView[]> {
  const grants = grantsOf(caller);
  if (ids.length === 0) return [];
  const shared = [...grants.organizations.values()]
    .filter(({ refused }) => !refused)
    .map(({ organizationId }) => organizationId);
  const managed = shared.filter((organizationId) =>
    allowed(grants, "organization:manage-membership", { organizationId }),
  );
  return app.reads.users.batchShared(ids, callingUser(caller) ?? "", { shared, managed });
}

/**
 * Deletes a user with its memberships, teams and tokens. Locks that the user holds remain; documents show them as
 * stale. Throws `notFound`, `userInvitedMeanwhile`, or the conflicts `last_administrator` and `last_owner`.
 */
export const deleteUser = (app: App, caller: Caller, id: UserId): Promise<void> =>
  app.transaction(async (tx) => {
    requireAdministrator(caller);
    // Organizations are locked before users, as in all transactions.
    const organizations = await tx.organizations.ofUserForUpdate(id);
    const { administrators, user } = await tx.users.getWithAdministrators(id);
    if (isActiveAdministrator(user) && administrators <= 1) throw lastAdministrator();
    const at = app.now();
    for (const [organizationId, organization] of organizations) {
      for (const member of await tx.teamMembers.ofUser(organizationId, id)) {
        const team = await tx.teams.get(member.teamId);
        tx.teamMembers.remove(member);
        await refuseWithoutOwner(tx, team);
        await tx.record(teamMemberRemoved(member, touch(organization, at)));
      }
    }
    for (const membership of await tx.memberships.ofUser(id)) {
      const organization = organizations.get(membership.organizationId);
      if (!organization) throw userInvitedMeanwhile();
      tx.memberships.remove(membership);
      await tx.record(organizationMembershipDeleted(membership, touch(organization, at)));
    }
    for (const token of await tx.tokens.ofUser(id)) await removeToken(app, tx, token);
    touch(user, at);
    await tx.record(userDeleted(user));
    tx.users.remove(user);
  });

/**
 * Suspends a user or ends a suspension, or grants or withdraws a user's administrator rights. Throws `notFound` or the
 * conflict `last_administrator`.
 */
export const setUserRights = (
  app: App,
  caller: Caller,
  { id, ...rights }: { id: UserId } & ({ suspended: boolean } | { administrator: boolean }),
): Promise<User> =>
  app.transaction(async (tx) => {
    requireAdministratorUnlessService(caller);
    // The rows of all active administrators are locked, in the order of their ids and before the user's own row, so
    // that concurrent calls cannot together remove the last administrators.
    const { administrators, user } = await tx.users.getWithAdministrators(id);
    const before = { ...user };
    Object.assign(user, rights);
    const { administrator, suspended } = user;
    if (isActiveAdministrator(before) && !isActiveAdministrator(user) && administrators <= 1) {
      throw lastAdministrator();
    }
    if (before.administrator === administrator && before.suspended === suspended) return user;
    touch(user, app.now());
    tx.users.save(user);
    await tx.record(userUpdated(user));
    return user;
  });

const isActiveAdministrator = ({
  administrator,
  suspended,
}: Pick<User, "administrator" | "suspended">): boolean => administrator && !suspended;

/**
 * Throws all problems of a user's name and e-mail address. A name that another user than `id` has is checked only if
 * there are other problems; otherwise the unique constraint reports it.
 */
async function refuseProblems(
  tx: Tx,
  input: { username: string; email: string },
  { id = "", emailTaken }: { id?: string; emailTaken: boolean },
): Promise<void> {
  const problems = new Problems();
  checkUser(input, problems);
  if (problems.areEmpty && !emailTaken) return;
  if (isUsername(input.username) && (await tx.users.nameTaken(input.username, id))) {
    problems.add("username", USERNAME_TAKEN);
  }
  if (emailTaken) problems.add("email", EMAIL_TAKEN);
  problems.throwIfAny();
}
