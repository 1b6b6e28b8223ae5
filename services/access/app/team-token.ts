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
    await removeToken(app, tx, token);
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
