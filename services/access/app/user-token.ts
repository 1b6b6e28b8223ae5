import type { Caller } from "@statehouse/authorization";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import { userNotFound } from "../domain/errors.ts";
import type { UserId } from "../domain/ids.ts";
import type { Token } from "../domain/token.ts";
import type { App } from "./app.ts";
import { callingUser } from "./caller.ts";
import { createToken, type NewToken, type TokenInput, type TokenOwner } from "./token.ts";

const ofUser = (userId: UserId): TokenOwner => ({
  type: "user",
  userId,
  teamId: null,
  organizationId: null,
  slot: "described",
});

/** Creates a token of the calling user, or of any user for services. Throws `notFound` for other users, `invalid`. */
export async function createUserToken(
  app: App,
  caller: Caller,
  { userId, ...input }: TokenInput & { userId: UserId },
): Promise<NewToken> {
  if (caller.kind !== "service" && callingUser(caller) !== userId) throw userNotFound();
  return app.transaction(async (tx) => {
    if (!(await tx.users.exists(userId))) throw userNotFound();
    return createToken(app, tx, caller, ofUser(userId), input);
  });
}

/** A page of the calling user's tokens. Throws `notFound` for other users. */
export async function listUserTokens(
  app: App,
  caller: Caller,
  { userId, page }: { userId: UserId; page: PageInput },
): Promise<Page<Token>> {
  if (callingUser(caller) !== userId) throw userNotFound();
  return app.reads.tokens.listOfUser(userId, page);
}
