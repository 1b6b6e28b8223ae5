import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { grantsIn } from "../caller-app.ts";
import { tokenNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId, TokenId } from "../ids-domain.ts";
import { authorizeTeam } from "../team/app.ts";
import {
  createToken,
  getManagedToken,
  type NewToken,
  removeToken,
  removeTokenInSlot,
} from "./app.ts";
import type { TokenView } from "./domain.ts";
import type { TeamTokenSearch } from "./store.ts";

/**
 * Creates a token that authenticates a team. If `defaultToken` is true or the description is absent, the token becomes
 * the team's default token and replaces the previous one. Otherwise it is an additional token. Throws `notFound` and
 * `forbidden`, and throws `invalid`, for example, if another additional token of the team has the same description.
 */
export const createTeamToken = (
  app: App,
  caller: Caller,
  {
    teamId,
    description,
    expiredAt,
    defaultToken,
  }: {
    teamId: TeamId;
    description: string | undefined;
    expiredAt: Date | undefined;
    defaultToken: boolean;
  },
): Promise<NewToken> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    authorizeTeam(caller, "manage-token", team);
    const slot = defaultToken || description === undefined ? "plain" : "described";
    const owner = { type: "team", teamId, organizationId: organization.id, slot } as const;
    const input = { description: description ?? "", expiredAt, organization };
    return createToken(app, tx, caller, owner, input);
  });

/** Returns the team's default token. Throws `notFound` or `forbidden`. */
export async function getTeamToken(app: App, caller: Caller, teamId: TeamId): Promise<TokenView> {
  const team = await app.transaction((tx) => tx.teams.get(teamId));
  authorizeTeam(caller, "manage-token", team);
  const token = await app.reads.tokens.findInSlot(team.organizationId, teamId, "plain");
  if (!token) throw tokenNotFound();
  return token;
}

/** Revokes the team's default token. Throws `notFound` or `forbidden`. */
export const deleteTeamToken = (app: App, caller: Caller, teamId: TeamId): Promise<void> =>
  app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    authorizeTeam(caller, "manage-token", team);
    const slot = { organizationId: organization.id, teamId, slot: "plain" } as const;
    if (!(await removeTokenInSlot(app, tx, slot))) throw tokenNotFound();
  });

/**
 * Returns a page of those tokens of an organization's teams that the caller may manage. Throws `notFound` if the caller
 * does not belong to the organization.
 */
export async function listTeamTokens(
  app: App,
  caller: Caller,
  { organizationId, ...search }: Omit<TeamTokenSearch, "at"> & { organizationId: OrganizationId },
): Promise<Page<TokenView>> {
  const { owner, teamIds } = grantsIn(caller, organizationId);
  const grants = grantsOf(caller);
  const viewer = {
    owner,
    teamIds,
    // Only users are members of a team. The members' right to manage the tokens of their team does not apply to a team
    // token.
    trustedMember: grants.principal.type === "user",
    managesTeams: allowed(grants, "organization:manage-teams", { organizationId }),
    seesSecretTeams: allowed(grants, "organization:read-secret-teams", { organizationId }),
  };
  return app.reads.tokens.listOfTeams(organizationId, viewer, { ...search, at: app.now() });
}

/**
 * Revokes tokens of an organization's teams. If one of them does not belong to a team of the organization, or the
 * caller is not allowed to manage it, revokes none and throws `notFound`.
 */
export const deleteTeamTokens = (
  app: App,
  caller: Caller,
  { organizationId, tokenIds }: { organizationId: OrganizationId; tokenIds: readonly TokenId[] },
): Promise<void> =>
  app.transaction(async (tx) => {
    authorize(caller, "organization:read", { organizationId }, "organization");
    await tx.organizations.getForUpdate(organizationId);
    // The tokens are locked in the order of their ids, as in all transactions, to prevent deadlocks.
    for (const id of [...new Set(tokenIds)].toSorted()) {
      const token = await getManagedToken(tx, caller, id);
      if (token.teamId === null || token.organizationId !== organizationId) throw tokenNotFound();
      await removeToken(app, tx, token);
    }
  });
