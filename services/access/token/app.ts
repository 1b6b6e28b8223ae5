import { randomBytes } from "node:crypto";
import { allowed, type Caller, grantsOf, refuseUserToken } from "@statehouse/authorization";
import { asRefusal, Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { App } from "../app.ts";
import { callingUser } from "../caller-app.ts";
import { tokenNotFound } from "../errors-domain.ts";
import type { TokenId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import type { Organization } from "../organization/domain.ts";
import { mayDoToTeam } from "../team/app.ts";
import {
  checkToken,
  defaultExpiry,
  limitedType,
  newToken,
  type Token,
  type TokenOwner,
} from "./domain.ts";
import { hashOf, SECRET_BYTES, secretOf } from "./secret-domain.ts";
import { tokenCreated, tokenDeleted } from "./store.ts";

/** A new token with its secret. Only the response to its creation contains the secret. */
export interface NewToken {
  token: Token;
  secret: string;
}

/** The fields of a request that creates a token. */
export interface TokenInput {
  description: string;
  expiredAt: Date | undefined;
}

/**
 * Creates a token. In a slot that can have only one token, the new token replaces the previous one. Unless the owner is
 * a user, the calling function must have locked the row of `organization`, because every change of a slot locks that
 * row. Throws `invalid`.
 */
export async function createToken(
  app: App,
  tx: Tx,
  caller: Caller,
  owner: TokenOwner,
  { description, expiredAt, organization }: TokenInput & { organization?: Organization },
): Promise<NewToken> {
  const at = app.now();
  const limits = {
    maxDays: app.settings.maxTokenDays,
    maxTtlMs: await findMaxTtlMs(tx, owner, organization),
  };
  const secret = secretOf(randomBytes(SECRET_BYTES));
  const fields = {
    hash: hashOf(secret),
    description,
    createdAt: at,
    expiredAt: expiredAt ?? defaultExpiry(at, limits),
  };
  const token = newToken(owner, fields, caller.kind === "principal" ? caller.principal : undefined);
  const problems = new Problems();
  checkToken(token, problems, { at, ...limits });
  problems.throwIfAny();
  if (token.slot !== "described") await removeTokenInSlot(app, tx, token);
  tx.tokens.save(token);
  await tx.record(tokenCreated(token));
  return { token, secret };
}

/**
 * Returns the maximum lifetime of the owner's tokens, in ms; undefined for a user, and for an organization that does
 * not limit lifetimes.
 */
async function findMaxTtlMs(
  tx: Tx,
  owner: TokenOwner,
  organization: Organization | undefined,
): Promise<bigint | undefined> {
  if (!organization?.maxTtlEnabled) return undefined;
  const policies = await tx.tokenTtlPolicies.ofOrganization(organization);
  return policies.find(({ tokenType }) => tokenType === limitedType(owner))?.maxTtlMs;
}

/** Revokes a token. Does not authorize the caller: the calling function must have done so. */
export async function removeToken(app: App, tx: Tx, token: Token): Promise<void> {
  tx.tokens.remove(token);
  await recordRemoval(app, tx, token);
}

/**
 * Revokes the token in a slot; returns false if the slot has no token. The transaction must hold the lock on the
 * organization's row. Does not authorize the caller.
 */
export async function removeTokenInSlot(
  app: App,
  tx: Tx,
  { organizationId, teamId = null, slot }: Omit<TokenOwner, "type" | "userId">,
): Promise<boolean> {
  const token = organizationId && (await tx.tokens.removeFromSlot(organizationId, teamId, slot));
  if (!token) return false;
  await recordRemoval(app, tx, token);
  return true;
}

const recordRemoval = (app: App, tx: Tx, token: Token): Promise<void> =>
  tx.record(tokenDeleted(token, nextVersion(token.revision, app.now())));

/** Returns a token of any type that the caller may manage. Throws `notFound` for all other tokens. */
export const getToken = (app: App, caller: Caller, id: TokenId): Promise<Token> =>
  app.transaction(async (tx) => getManagedToken(tx, caller, id));

/** Revokes the token: the next request with it fails. Throws `notFound`. */
export const deleteToken = (app: App, caller: Caller, id: TokenId): Promise<void> =>
  app.transaction(async (tx) => removeToken(app, tx, await getManagedToken(tx, caller, id)));

/**
 * Locks and returns a token that the caller may manage. Throws `notFound` instead of `forbidden` for other callers, so
 * that they do not learn whether the token exists.
 */
export async function getManagedToken(tx: Tx, caller: Caller, id: TokenId): Promise<Token> {
  const token = await tx.tokens.getForUpdate(id);
  const { teamId, organizationId, userId } = token;
  const grants = grantsOf(caller);
  if (organizationId) refuseUserToken(grants, organizationId);
  const manages = teamId
    ? mayDoToTeam(grants, "manage-token", await tx.teams.get(teamId))
    : organizationId
      ? allowed(grants, "organization:update", { organizationId })
      : callingUser(caller) === userId;
  if (!manages) {
    throw asRefusal(tokenNotFound(), { organizationId: organizationId ?? undefined });
  }
  return token;
}
