import { randomBytes } from "node:crypto";
import {
  allowed,
  authorize,
  type Caller,
  grantsOf,
  refuseUserToken,
} from "@statehouse/authorization";
import { nextVersion } from "@statehouse/events/version";
import { newId, type PageInput } from "@statehouse/postgres";
import { noSuchToken, noSuchUser, throwIfAny, unknownSlot } from "../domain/errors.ts";
import type { OrganizationId, TeamId, TokenId, UserId } from "../domain/ids.ts";
import {
  defaultExpiry,
  organizationSlots,
  type Slot,
  Token,
  tokenProblems,
} from "../domain/token.ts";
import { hashOf, SECRET_BYTES, secretOf } from "../domain/token-secret.ts";
import type { TokenPage } from "../store/token.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { callingUser, grantsIn } from "./caller.ts";
import { authorizeTeam, mayDoToTeam } from "./team.ts";

/** A token with its secret, which is in this answer and nowhere else. */
export interface NewToken {
  token: Token;
  secret: string;
}

interface Wanted {
  description: string;
  expiredAt: Date | undefined;
}

type Owner = Pick<Token, "type" | "userId" | "teamId" | "organizationId" | "slot">;

const ofUser = (userId: UserId): Owner => ({
  type: "user",
  userId,
  teamId: null,
  organizationId: null,
  slot: "described",
});

const ofTeam = (teamId: TeamId, organizationId: OrganizationId, slot: Slot): Owner => ({
  type: "team",
  userId: null,
  teamId,
  organizationId,
  slot,
});

const ofOrganization = (organizationId: OrganizationId, slot: Slot): Owner => ({
  type: "organization",
  userId: null,
  teamId: null,
  organizationId,
  slot,
});

/** Throws `invalid`. */
function newToken(app: App, caller: Caller, owner: Owner, wanted: Wanted): NewToken {
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

async function add(tx: Tx, token: Token): Promise<void> {
  await tx.tokens.add(token);
  await tx.record({ type: "tokenCreated", token, revision: token.revision });
}

async function remove(app: App, tx: Tx, token: Token): Promise<void> {
  await tx.tokens.delete(token);
  const revision = nextVersion(token.revision, app.now());
  await tx.record({ type: "tokenDeleted", token, revision });
}

/** Makes a token for the calling user, or for any when a service calls. Throws `notFound` for another's, `invalid`. */
export async function createUserToken(
  app: App,
  caller: Caller,
  { userId, ...wanted }: Wanted & { userId: UserId },
): Promise<NewToken> {
  if (caller.kind === "principal" && callingUser(caller) !== userId) throw noSuchUser();
  const made = newToken(app, caller, ofUser(userId), wanted);
  await app.transaction(async (tx) => {
    if (!(await tx.users.exists(userId))) throw noSuchUser();
    await add(tx, made.token);
  });
  return made;
}

/** A page of the calling user's own tokens. Throws `notFound` for another's. */
export async function listUserTokens(
  app: App,
  caller: Caller,
  { userId, page }: { userId: UserId; page: PageInput },
): Promise<TokenPage> {
  if (callingUser(caller) !== userId) throw noSuchUser();
  return app.reads.tokens.listOfUser(userId, page);
}

/**
 * Makes a token that speaks for a team: the plain one, replacing the one before, or, with a description, one of
 * many. Throws `notFound`, `forbidden`, `invalid` also for a description that another has.
 */
export const createTeamToken = (
  app: App,
  caller: Caller,
  {
    teamId,
    description,
    expiredAt,
  }: {
    teamId: TeamId;
    description: string | undefined;
    expiredAt: Date | undefined;
  },
): Promise<NewToken> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    authorizeTeam(caller, "manage-token", await tx.teams.get(teamId));
    const slot = description === undefined ? "plain" : "described";
    const owner = ofTeam(teamId, organization.id, slot);
    const made = newToken(app, caller, owner, { description: description ?? "", expiredAt });
    await fillSlot(app, tx, made.token);
    return made;
  });

/** The plain one. Throws `notFound` for whoever may not manage it. */
export const getTeamToken = (app: App, caller: Caller, teamId: TeamId): Promise<Token> =>
  app.transaction(async (tx) => {
    const team = await tx.teams.get(teamId);
    authorizeTeam(caller, "manage-token", team);
    const token = await tx.tokens.findInSlot(team.organizationId, teamId, "plain");
    if (!token) throw noSuchToken();
    return token;
  });

/** Revokes the plain one. Throws `notFound`, `forbidden`. */
export const deleteTeamToken = (app: App, caller: Caller, teamId: TeamId): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    authorizeTeam(caller, "manage-token", await tx.teams.get(teamId));
    const token = await tx.tokens.findInSlot(organization.id, teamId, "plain");
    if (!token) throw noSuchToken();
    await remove(app, tx, token);
  });

/** Those of an organization's teams that the caller may manage. Throws `notFound` for the organization. */
export async function listTeamTokens(
  app: App,
  caller: Caller,
  { organizationId, page }: { organizationId: OrganizationId; page: PageInput },
): Promise<TokenPage> {
  const { owner, teamIds } = grantsIn(caller, organizationId);
  const grants = grantsOf(caller);
  const viewer = {
    owner,
    teamIds,
    // Only people are trusted as members: a team's token is not to make further ones.
    trustedMember: grants.principal.type === "user",
    managesTeams: allowed(grants, "organization:manage-teams", { organizationId }),
    seesSecretTeams: allowed(grants, "organization:read-secret-teams", { organizationId }),
  };
  return app.reads.tokens.listOfTeams(organizationId, viewer, page);
}

/** Makes the organization's token, replacing the one before. Throws `notFound`, `forbidden`, `invalid`, `badRequest`. */
export const createOrganizationToken = (
  app: App,
  caller: Caller,
  {
    organizationId,
    slot,
    expiredAt,
  }: {
    organizationId: OrganizationId;
    slot: string;
    expiredAt: Date | undefined;
  },
): Promise<NewToken> =>
  app.transaction(async (tx) => {
    await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const owner = ofOrganization(organizationId, slotOf(slot));
    const made = newToken(app, caller, owner, { description: "", expiredAt });
    await fillSlot(app, tx, made.token);
    return made;
  });

/** Throws `notFound` also when there is none, `forbidden`. */
export async function getOrganizationToken(
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<Token> {
  authorize(caller, "organization:update", { organizationId });
  const token = await app.reads.tokens.inSlot(organizationId, null, slotOf(slot));
  if (!token) throw noSuchToken();
  return token;
}

/** Revokes it. Throws `notFound`, `forbidden`. */
export const deleteOrganizationToken = (
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<void> =>
  app.transaction(async (tx) => {
    await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const token = await tx.tokens.findInSlot(organizationId, null, slotOf(slot));
    if (!token) throw noSuchToken();
    await remove(app, tx, token);
  });

/** Any token that the caller may manage. Throws `notFound` for all others. */
export const getToken = (app: App, caller: Caller, id: TokenId): Promise<Token> =>
  app.transaction(async (tx) => managedToken(tx, caller, id));

/** Revokes it: the next request with it fails. Throws `notFound`. */
export const deleteToken = (app: App, caller: Caller, id: TokenId): Promise<void> =>
  app.transaction(async (tx) => remove(app, tx, await managedToken(tx, caller, id)));

/** A token is not there for whoever may not manage it, whatever they see of its team or organization. */
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

/** Into a slot that holds one, instead of the one before. */
async function fillSlot(app: App, tx: Tx, token: Token): Promise<void> {
  const { organizationId, teamId, slot } = token;
  if (organizationId && slot !== "described") {
    const before = await tx.tokens.findInSlot(organizationId, teamId, slot);
    if (before) await remove(app, tx, before);
  }
  await add(tx, token);
}

/** Throws `badRequest`. */
function slotOf(name: string): Slot {
  const slot = organizationSlots.find((known) => known === (name || "plain"));
  if (!slot) throw unknownSlot();
  return slot;
}
