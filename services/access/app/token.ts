import { randomBytes } from "node:crypto";
import { allowed, type Caller, grantsOf, refuseUserToken } from "@statehouse/authorization";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import { noSuchToken, throwIfAny } from "../domain/errors.ts";
import type { TokenId } from "../domain/ids.ts";
import { defaultExpiry, Token, tokenProblems } from "../domain/token.ts";
import { hashOf, SECRET_BYTES, secretOf } from "../domain/token-secret.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { callingUser } from "./caller.ts";
import { mayDoToTeam } from "./team.ts";

/** A token with its secret, which only the response to its creation contains. */
export interface NewToken {
  token: Token;
  secret: string;
}

/** The values of a token in a request. */
export interface WantedToken {
  description: string;
  expiredAt: Date | undefined;
}

/** The principal that it authenticates. */
export type TokenOwner = Pick<Token, "type" | "userId" | "teamId" | "organizationId" | "slot">;

/** A token with a new secret, not stored yet. Throws `invalid`. */
export function newToken(
  app: App,
  caller: Caller,
  owner: TokenOwner,
  wanted: WantedToken,
): NewToken {
  const at = app.now();
  const { maxTokenDays } = app.settings;
  const secret = secretOf(randomBytes(SECRET_BYTES));
  const maker = caller.kind === "principal" ? caller.principal : undefined;
  const token = new Token({
    ...owner,
    id: newId("at"),
    hash: hashOf(secret),
    description: wanted.description,
    revision: nextVersion(0n, at),
    createdByType: maker?.type ?? null,
    createdById: maker?.id ?? null,
    createdAt: at,
    expiredAt: wanted.expiredAt ?? defaultExpiry(at, maxTokenDays),
    lastUsedAt: null,
  });
  throwIfAny(tokenProblems(token, at, maxTokenDays));
  return { token, secret };
}

/** Stores a new token. */
export async function addToken(tx: Tx, token: Token): Promise<void> {
  await tx.tokens.add(token);
  await tx.record({ type: "tokenCreated", token, revision: token.revision });
}

/** Revokes a token that the caller may manage. */
export async function removeToken(app: App, tx: Tx, token: Token): Promise<void> {
  await tx.tokens.delete(token);
  const revision = nextVersion(token.revision, app.now());
  await tx.record({ type: "tokenDeleted", token, revision });
}

/** Any token that the caller may manage. Throws `notFound` for all others. */
export const getToken = (app: App, caller: Caller, id: TokenId): Promise<Token> =>
  app.transaction(async (tx) => managedToken(tx, caller, id));

/** Revokes it: the next request with it fails. Throws `notFound`. */
export const deleteToken = (app: App, caller: Caller, id: TokenId): Promise<void> =>
  app.transaction(async (tx) => removeToken(app, tx, await managedToken(tx, caller, id)));

/** Callers that may not manage a token get not found, even if they see its team or organization. */
async function managedToken(tx: Tx, caller: Caller, id: TokenId): Promise<Token> {
  const token = await tx.tokens.getForUpdate(id);
  const { teamId, organizationId, userId } = token;
  const grants = grantsOf(caller);
  if (organizationId) refuseUserToken(grants, organizationId);
  const manages = teamId
    ? mayDoToTeam(grants, "manage-token", await tx.teams.get(teamId))
    : organizationId
      ? allowed(grants, "organization:update", { organizationId })
      : callingUser(caller) === userId;
  if (!manages) throw noSuchToken();
  return token;
}

/** Stores a new token; in a slot for one token it replaces the previous one. */
export async function fillSlot(app: App, tx: Tx, token: Token): Promise<void> {
  const { organizationId, teamId, slot } = token;
  if (organizationId && slot !== "described") {
    const before = await tx.tokens.findInSlot(organizationId, teamId, slot);
    if (before) await removeToken(app, tx, before);
  }
  await addToken(tx, token);
}
