import { allowed, type Caller, grantsOf } from "@statehouse/authorization";
import type { PageInput } from "@statehouse/postgres";
import { noSuchToken } from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import type { Slot, Token } from "../domain/token.ts";
import type { TokenPage } from "../store/token.ts";
import type { App } from "./app.ts";
import { grantsIn } from "./caller.ts";
import { authorizeTeam } from "./team.ts";
import { fillSlot, type NewToken, newToken, removeToken, type TokenOwner } from "./token.ts";

const ofTeam = (teamId: TeamId, organizationId: OrganizationId, slot: Slot): TokenOwner => ({
  type: "team",
  userId: null,
  teamId,
  organizationId,
  slot,
});

/**
 * Creates a token of a team: the default one, replacing the previous one, or an additional one with a description.
 * Throws `notFound`, `forbidden`, `invalid` also for a description already in use.
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

/** The default token. Throws `notFound` for callers that may not manage it. */
export const getTeamToken = (app: App, caller: Caller, teamId: TeamId): Promise<Token> =>
  app.transaction(async (tx) => {
    const team = await tx.teams.get(teamId);
    authorizeTeam(caller, "manage-token", team);
    const token = await tx.tokens.findInSlot(team.organizationId, teamId, "plain");
    if (!token) throw noSuchToken();
    return token;
  });

/** Revokes the default token. Throws `notFound`, `forbidden`. */
export const deleteTeamToken = (app: App, caller: Caller, teamId: TeamId): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdateOfTeam(teamId);
    authorizeTeam(caller, "manage-token", await tx.teams.get(teamId));
    const token = await tx.tokens.findInSlot(organization.id, teamId, "plain");
    if (!token) throw noSuchToken();
    await removeToken(app, tx, token);
  });

/** Tokens of an organization's teams that the caller may manage. Throws `notFound` for the organization. */
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
    // Only users are trusted as members: a team token must not create further ones.
    trustedMember: grants.principal.type === "user",
    managesTeams: allowed(grants, "organization:manage-teams", { organizationId }),
    seesSecretTeams: allowed(grants, "organization:read-secret-teams", { organizationId }),
  };
  return app.reads.tokens.listOfTeams(organizationId, viewer, page);
}
