import { type Caller, requireAdministrator } from "@statehouse/authorization";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { emailTaken, lastAdministrator, noSuchUser, throwIfAny } from "../domain/errors.ts";
import type { UserId } from "../domain/ids.ts";
import { isUsername, User, userProblems } from "../domain/user.ts";
import { bump } from "../domain/version.ts";
import type { Tx } from "../store/transaction.ts";
import type { UserSearch } from "../store/user.ts";
import type { App } from "./app.ts";
import { callingUser } from "./caller.ts";

export interface CreateUser {
  username: string;
  email: string;
  administrator: boolean;
}

/**
 * Creates a user; a placeholder with that address becomes this user. Throws `invalid` if the name or the address is
 * invalid or taken, `notFound` for callers who are not administrators.
 */
export const createUser = (app: App, caller: Caller, input: CreateUser): Promise<User> =>
  app.transaction(async (tx) => {
    if (caller.kind === "principal") requireAdministrator(caller);
    const at = app.now();
    await refuseProblems(tx, input);
    const { username, email, administrator } = input;
    const invited = await tx.users.findByEmail(email);
    if (invited) {
      // Another request may have completed the placeholder since `refuseProblems` checked.
      if (!invited.placeholder) throwIfAny([emailTaken]);
      Object.assign(invited, { username, email, administrator, placeholder: false });
      const revision = bump(invited, at);
      await tx.users.save(invited);
      await tx.record({ type: "userCreated", user: invited, revision });
      return invited;
    }
    const user = new User({
      id: newId("user"),
      username,
      email,
      administrator,
      suspended: false,
      placeholder: false,
      version: nextVersion(0n, at),
      createdAt: at,
    });
    await tx.users.add(user);
    await tx.record({ type: "userCreated", user, revision: user.version });
    return user;
  });

/**
 * Creates an administrator while the installation has none; an existing user of that name is promoted. Returns
 * undefined if there is one already. Throws `invalid`.
 */
export async function ensureAdministrator(
  app: App,
  { username, email }: { username: string; email: string },
): Promise<User | undefined> {
  const installation: Caller = { kind: "service", name: "operator" };
  const administrators = await app.transaction((tx) => tx.users.administrators());
  if (administrators > 0) return undefined;
  const known = isUsername(username) ? await app.reads.users.findByName(username) : undefined;
  return known
    ? setUserAdministrator(app, installation, { id: known.id, administrator: true })
    : createUser(app, installation, { username, email, administrator: true });
}

/** The user of that name, ignoring case. Throws `notFound`. */
export async function getUserByName(app: App, username: string): Promise<User> {
  const user = isUsername(username) ? await app.reads.users.findByName(username) : undefined;
  if (!user) throw noSuchUser();
  return user;
}

/** The calling user; for a team or an organization its synthetic user. Throws `notFound` for a run. */
export async function getCurrentUser(app: App, caller: Caller): Promise<User> {
  const id = callingUser(caller);
  const user = id === undefined ? undefined : await app.reads.users.find(id);
  if (!user) throw noSuchUser();
  return user;
}

/** Changes the calling user's name and address. Throws `invalid`. */
export const updateCurrentUser = (
  app: App,
  caller: Caller,
  { username, email }: { username: string | undefined; email: string | undefined },
): Promise<User> =>
  app.transaction(async (tx) => {
    const id = callingUser(caller);
    if (id === undefined) throw noSuchUser();
    const user = await tx.users.getForUpdate(id as UserId);
    const wanted = { username: username ?? user.username, email: email ?? user.email };
    await refuseProblems(tx, wanted, user.id);
    Object.assign(user, wanted);
    const revision = bump(user, app.now());
    await tx.users.save(user);
    await tx.record({ type: "userUpdated", user, revision });
    return user;
  });

/** A user who shares an organization with the caller. Throws `notFound`. */
export async function getUser(app: App, caller: Caller, id: UserId): Promise<User> {
  const [user] = await batchGetUsers(app, caller, [id]);
  if (!user) throw noSuchUser();
  return user;
}

/** All users of the installation. Throws `notFound` for callers who are not administrators. */
export async function listUsers(
  app: App,
  caller: Caller,
  search: UserSearch,
): Promise<{ users: User[]; total: number }> {
  requireAdministrator(caller);
  return app.reads.users.list(search);
}

/** Suspends or unsuspends a user. Throws `notFound`, the conflict `last_administrator`. */
export const setUserSuspended = (
  app: App,
  caller: Caller,
  { id, suspended }: { id: UserId; suspended: boolean },
): Promise<User> =>
  changeUser(app, caller, id, (user) => {
    user.suspended = suspended;
  });

/** Grants or revokes the administrator flag. Throws as `setUserSuspended`. */
export const setUserAdministrator = (
  app: App,
  caller: Caller,
  { id, administrator }: { id: UserId; administrator: boolean },
): Promise<User> =>
  changeUser(app, caller, id, (user) => {
    user.administrator = administrator;
  });

/** The requested users that share an organization with the caller, and the caller. */
export async function batchGetUsers(
  app: App,
  caller: Caller,
  ids: readonly UserId[],
): Promise<User[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const organizationIds = [...caller.grants.organizations.values()]
    .filter(({ refused }) => !refused)
    .map(({ organizationId }) => organizationId);
  return app.reads.users.batchShared(ids, callingUser(caller) ?? "", organizationIds);
}

const changeUser = (
  app: App,
  caller: Caller,
  id: UserId,
  change: (user: User) => void,
): Promise<User> =>
  app.transaction(async (tx) => {
    if (caller.kind === "principal") requireAdministrator(caller);
    // Locked before the user's own row, in the order of ids: two administrators cannot remove each other.
    const administrators = await tx.users.administrators();
    const user = await tx.users.getForUpdate(id);
    const before = { ...user };
    const counted = user.administrator && !user.suspended;
    change(user);
    if (counted && !(user.administrator && !user.suspended) && administrators <= 1) {
      throw lastAdministrator();
    }
    const same = before.administrator === user.administrator && before.suspended === user.suspended;
    if (same) return user;
    const revision = bump(user, app.now());
    await tx.users.save(user);
    await tx.record({ type: "userUpdated", user, revision });
    return user;
  });

async function refuseProblems(
  tx: Tx,
  wanted: { username: string; email: string },
  self?: UserId,
): Promise<void> {
  const problems = userProblems(wanted);
  const sound = (field: "username" | "email") =>
    problems.some((problem) => problem.field === field) ? null : wanted[field];
  throwIfAny([...problems, ...(await tx.users.taken(sound("username"), sound("email"), self))]);
}
