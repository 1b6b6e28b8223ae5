import { randomBytes } from "node:crypto";
import type { Caller } from "@statehouse/authorization";
import { newId, type PageInput } from "@statehouse/postgres";
import { noSuchUser, noSuchUserToken, throwIfAny } from "../domain/errors.ts";
import type { UserId, UserTokenId } from "../domain/ids.ts";
import { hashOf, SECRET_BYTES, secretOf } from "../domain/token-secret.ts";
import { defaultExpiry, UserToken, userTokenProblems } from "../domain/user-token.ts";
import { nextVersion } from "../domain/version.ts";
import type { UserTokenPage } from "../store/user-token.ts";
import type { App } from "./app.ts";
import { callingUser } from "./user.ts";

export interface CreateUserToken {
  userId: UserId;
  description: string;
  expiredAt: Date | undefined;
}

/**
 * Makes a token for the calling user, or for any when a service calls. The secret is in this answer and
 * nowhere else. Throws `notFound` for another's, `invalid`.
 */
export async function createUserToken(
  app: App,
  caller: Caller,
  { userId, description, expiredAt }: CreateUserToken,
): Promise<{ userToken: UserToken; secret: string }> {
  if (caller.kind === "principal" && callingUser(caller) !== userId) throw noSuchUser();
  const at = app.now();
  const secret = secretOf(randomBytes(SECRET_BYTES));
  const userToken = new UserToken({
    id: newId("at"),
    userId,
    hash: hashOf(secret),
    description,
    revision: nextVersion(0n, at),
    createdByUserId: caller.kind === "principal" ? userId : null,
    createdAt: at,
    expiredAt: expiredAt ?? defaultExpiry(at),
    lastUsedAt: null,
  });
  throwIfAny(userTokenProblems(userToken, at));
  await app.transaction(async (tx) => {
    if (!(await tx.users.exists(userId))) throw noSuchUser();
    await tx.userTokens.add(userToken);
    await tx.record({ type: "userTokenCreated", userToken, revision: userToken.revision });
  });
  return { userToken, secret };
}

/** A page of the calling user's own tokens. Throws `notFound` for another's. */
export async function listUserTokens(
  app: App,
  caller: Caller,
  { userId, page }: { userId: UserId; page: PageInput },
): Promise<UserTokenPage> {
  if (callingUser(caller) !== userId) throw noSuchUser();
  return app.reads.userTokens.listOfUser(userId, page);
}

/** One of the calling user's own tokens. Throws `notFound`, for another's too. */
export async function getUserToken(app: App, caller: Caller, id: UserTokenId): Promise<UserToken> {
  const userToken = await app.reads.userTokens.find(id);
  if (!userToken || callingUser(caller) !== userToken.userId) throw noSuchUserToken();
  return userToken;
}

/** Revokes one of the calling user's own tokens: the next request with it fails. Throws `notFound`. */
export const deleteUserToken = (app: App, caller: Caller, id: UserTokenId): Promise<void> =>
  app.transaction(async (tx) => {
    const userToken = await tx.userTokens.getForUpdate(id);
    if (callingUser(caller) !== userToken.userId) throw noSuchUserToken();
    const revision = nextVersion(userToken.revision, app.now());
    await tx.userTokens.delete(userToken);
    await tx.record({ type: "userTokenDeleted", userToken, revision });
  });
