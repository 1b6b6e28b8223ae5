import type { Caller } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres";
import { noSuchUser, throwIfAny } from "../domain/errors.ts";
import type { UserId } from "../domain/ids.ts";
import { isUsername, User, userProblems } from "../domain/user.ts";
import { nextVersion } from "../domain/version.ts";
import type { App } from "./app.ts";

export interface CreateUser {
  username: string;
  email: string;
  administrator: boolean;
}

/** Adds a person. Throws `invalid` when the name or the address is bad or taken. */
export const createUser = (app: App, input: CreateUser): Promise<User> =>
  app.transaction(async (tx) => {
    const at = app.now();
    const problems = userProblems(input);
    const sound = (field: "username" | "email") =>
      problems.some((problem) => problem.field === field) ? null : input[field];
    throwIfAny([...problems, ...(await tx.users.taken(sound("username"), sound("email")))]);
    const { username, email, administrator } = input;
    const user = new User({
      id: newId("user"),
      username,
      email,
      administrator,
      suspended: false,
      version: nextVersion(0n, at),
      createdAt: at,
    });
    await tx.users.add(user);
    await tx.record({ type: "userCreated", user, revision: user.version });
    return user;
  });

/** The user of that name, whatever its case. Throws `notFound`. */
export async function getUserByName(app: App, username: string): Promise<User> {
  const user = isUsername(username) ? await app.reads.users.findByName(username) : undefined;
  if (!user) throw noSuchUser();
  return user;
}

/** The calling user. Throws `notFound` when a team, an organization or a run calls. */
export async function getCurrentUser(app: App, caller: Caller): Promise<User> {
  const id = callingUser(caller);
  const user = id === undefined ? undefined : await app.reads.users.find(id);
  if (!user) throw noSuchUser();
  return user;
}

/** Those of the users that share an organization with the caller, and the caller. */
export async function batchGetUsers(
  app: App,
  caller: Caller,
  ids: readonly UserId[],
): Promise<User[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const organizationIds = [...caller.grants.organizations.keys()];
  return app.reads.users.batchShared(ids, callingUser(caller) ?? "", organizationIds);
}

/** The id of the user that calls, if it is one. */
export const callingUser = (caller: Caller): string | undefined =>
  caller.kind === "principal" && caller.principal.type === "user" ? caller.principal.id : undefined;
