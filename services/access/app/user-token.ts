import type { Caller } from "@statehouse/authorization";
import type { PageInput } from "@statehouse/postgres";
import { noSuchUser } from "../domain/errors.ts";
import type { UserId } from "../domain/ids.ts";
import type { TokenPage } from "../store/token.ts";
import type { App } from "./app.ts";
import { callingUser } from "./caller.ts";
import { addToken, type NewToken, newToken, type TokenOwner, type WantedToken } from "./token.ts";

const ofUser = (userId: UserId): TokenOwner => ({
  type: "user",
  userId,
  teamId: null,
  organizationId: null,
  slot: "described",
});

/**
 * Creates a token for the calling user, or for any user if a service calls. Throws `notFound` for another user's,
 * `invalid`.
 */
export async function createUserToken(
  app: App,
  caller: Caller,
  { userId, ...wanted }: WantedToken & { userId: UserId },
): Promise<NewToken> {
  if (caller.kind === "principal" && callingUser(caller) !== userId) throw noSuchUser();
  const made = newToken(app, caller, ofUser(userId), wanted);
  await app.transaction(async (tx) => {
    if (!(await tx.users.exists(userId))) throw noSuchUser();
    await addToken(tx, made.token);
  });
  return made;
}

/** A page of the calling user's tokens. Throws `notFound` for another user's. */
export async function listUserTokens(
  app: App,
  caller: Caller,
  { userId, page }: { userId: UserId; page: PageInput },
): Promise<TokenPage> {
  if (callingUser(caller) !== userId) throw noSuchUser();
  return app.reads.tokens.listOfUser(userId, page);
}
