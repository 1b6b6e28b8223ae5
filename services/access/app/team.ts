import type { Caller } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres";
import { teamNameTaken, throwIfAny } from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import {
  type CountedTeam,
  Team,
  type TeamInput,
  teamIsVisible,
  teamProblems,
  visibilityOf,
} from "../domain/team.ts";
import { bump } from "../domain/version.ts";
import type { App } from "./app.ts";

export interface CreateTeam extends TeamInput {
  organizationId: OrganizationId;
}

/** Adds a team. Throws `invalid` when the name is bad or taken, `notFound` for the organization. */
export const createTeam = (app: App, input: CreateTeam): Promise<CountedTeam> =>
  app.transaction(async (tx) => {
    const { organizationId, name, organizationAccess } = input;
    const organization = await tx.organizations.getForUpdate(organizationId);
    const problems = teamProblems(input);
    const sound = !problems.some(({ field }) => field === "name");
    if (sound && (await tx.teams.nameIsTaken(organizationId, name))) problems.push(teamNameTaken);
    throwIfAny(problems);
    const at = app.now();
    const revision = bump(organization, at);
    const team = new Team({
      id: newId("team"),
      organizationId,
      name,
      visibility: visibilityOf(input.visibility) ?? "secret",
      organizationAccess: [...new Set(organizationAccess)],
      owners: false,
      createdAt: at,
    });
    await tx.teams.add(team);
    await tx.record({ type: "teamCreated", team, revision });
    return { team, usersCount: 0 };
  });

/** Those of the teams that the caller may see. */
export async function batchGetTeams(
  app: App,
  caller: Caller,
  ids: readonly TeamId[],
): Promise<CountedTeam[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const { organizations } = caller.grants;
  const found = await app.reads.teams.batch(ids, [...organizations.keys()]);
  return found.filter(({ team }) => {
    const membership = organizations.get(team.organizationId);
    return membership !== undefined && teamIsVisible(team, membership);
  });
}
