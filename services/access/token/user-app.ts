import type { Caller } from "@statehouse/authorization";
import { asRefusal } from "@statehouse/errors";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { callingUser } from "../caller-app.ts";
import { userNotFound } from "../errors-domain.ts";
import type { UserId } from "../ids-domain.ts";
import { createToken, type NewToken, type TokenInput } from "./app.ts";
import type { TokenView } from "./domain.ts";

/**
 * Creates a user token. Users can create their own tokens; services can create tokens of any user. Throws `notFound` if
 * the user is unknown or if a caller that is not a service names another user, and `invalid` if a field is invalid.
 */
export async function createUserToken(
  app: App,
  caller: Caller,
  { userId, ...input }: TokenInput & { userId: UserId },
): Promise<NewToken> {
  if (caller.kind !== "service" && callingUser(caller) !== userId) throw asRefusal(userNotFound());
  return app.transaction(async (tx) => {
    // A later deletion of the user also deletes the token.
    await tx.users.getForShare(userId);
    return createToken(app, tx, caller, { type: "user", userId, slot: "described" }, input);
  });
}

/** Returns a page of the calling user's tokens. Throws `notFound` for another user's id. */
export async function listUserTokens(
  app: App,
  caller: Caller,
  { userId, page }: { userId: UserId; page: PageInput },
): Promise<Page<TokenView>> {
  if (callingUser(caller) !== userId) throw asRefusal(userNotFound());
  return app.reads.tokens.listOfUser(userId, page);
}
