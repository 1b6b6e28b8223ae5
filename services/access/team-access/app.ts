import {
  type Action,
  allowed,
  authorize,
  authorizeOrNotFound,
  authorizeUnlessService,
  type Caller,
  effectivePermissions,
  grantsOf,
  permissionTables,
} from "@statehouse/authorization";
import { asRefusal, isNotFound, Problems } from "@statehouse/errors";
import { isId } from "@statehouse/postgres/ids";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import type { Placement } from "../clients-app.ts";
import { TEAM_TAKEN, teamAccessNotFound, teamNotFound } from "../errors-domain.ts";
import type { TeamAccessId, TeamId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { checkedGrant } from "../permissions-domain.ts";
import { touch } from "../version-domain.ts";
import {
  newTeamAccess,
  type TargetType,
  type TeamAccess,
  type TeamAccessTarget,
} from "./domain.ts";
import {
  teamAccessCreated,
  teamAccessDeleted,
  teamAccessUpdated,
  type VisibleTeams,
} from "./store.ts";

/** Returns a grant with its effective permissions, which documents show. */
const toView = (teamAccess: TeamAccess): TeamAccess => ({
  ...teamAccess,
  permissions: effectivePermissions(permissionTables[teamAccess.targetType], teamAccess),
});

const actions = {
  project: { read: "project:read", manage: "project:manage-teams" },
  workspace: { read: "workspace:read", manage: "workspace:manage-teams" },
} as const satisfies Record<TargetType, Record<"read" | "manage", Action>>;

/** The organization and project of a grant's target, which authorization needs. */
type TargetPlacement = Placement | Omit<Placement, "workspaceId">;

/**
 * Returns the placement of a target. Called before the transaction starts, because it calls the workspaces service.
 * Throws `notFound`.
 */
const placementOfTarget = async (
  app: App,
  { targetType, targetId }: TeamAccessTarget,
): Promise<TargetPlacement> =>
  targetType === "workspace"
    ? app.workspaces.placementOfWorkspace(targetId)
    : { organizationId: await app.workspaces.organizationOfProject(targetId), projectId: targetId };

/**
 * Returns the placement of an existing grant's target. Calls the workspaces service only if the target is a workspace,
 * because a workspace can move to another project. A project's organization never changes.
 */
const placementOfGrant = async (
  app: App,
  { organizationId, targetId }: TeamAccess,
): Promise<TargetPlacement> =>
  isId("ws", targetId)
    ? app.workspaces.placementOfWorkspace(targetId)
    : { organizationId, projectId: targetId };

/**
 * Returns which teams' grants on a target the caller sees:
 * - Callers that may manage the target's teams see the grants of all teams.
 * - Callers that may read a project's teams see the grants of their own teams and of teams that are not secret.
 * - All other callers see the grants of their own teams.
 */
function visibleTeams(
  caller: Caller,
  targetType: TargetType,
  placement: TargetPlacement,
): VisibleTeams {
  const grants = grantsOf(caller);
  const all = allowed(grants, actions[targetType].manage, placement);
  const { teamIds = [] } = grants.organizations.get(placement.organizationId) ?? {};
  const open = targetType === "project" && allowed(grants, "project:read-teams", placement);
  return { all, teamIds, open };
}

/**
 * Gives a team access to a project or workspace of its organization. Throws:
 * - `notFound` for an unknown team or target, and for callers that are not allowed to read the target
 * - `forbidden` for callers that may read the target, but are not allowed to manage its teams
 * - `invalid` for an unknown level or permission, and for a team that already has access
 */
export async function createTeamAccess(
  app: App,
  caller: Caller,
  input: {
    teamId: TeamId;
    target: TeamAccessTarget;
    access: string;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<TeamAccess> {
  const { teamId, target } = input;
  // Called before the transaction begins, so that a slow response of the workspaces service does not keep the
  // organization's row locked.
  const placement = await placementOfTarget(app, target);
  const { organizationId } = placement;
  authorizeUnlessService(caller, actions[target.targetType].manage, placement);
  const created = await app.transaction(async (tx) => {
    const { organization, team } = await tx.teams.getWithOrganization(teamId);
    if (team.organizationId !== organizationId) throw teamNotFound();
    const problems = new Problems();
    const grant = checkedGrant(permissionTables[target.targetType], input, problems);
    // A taken team is reported with the other problems or, if there are none, by the unique constraint.
    if (!problems.areEmpty && (await tx.teamAccess.find({ teamId, targetId: target.targetId }))) {
      problems.add("teamId", TEAM_TAKEN);
    }
    problems.throwIfAny();
    const at = app.now();
    const teamAccess = newTeamAccess(team, target, grant, at);
    tx.teamAccess.save(teamAccess);
    await tx.record(teamAccessCreated(teamAccess, touch(organization, at)));
    return toView(teamAccess);
  });
  await deleteIfTargetIsGone(app, target);
  return created;
}

/**
 * Deletes the new grant and throws `notFound` if its target was deleted while the grant was created. The event of the
 * deletion may have been processed before the grant existed, so the target is checked again after the commit. This is
 * sufficient because the workspaces service commits a deletion before it publishes the event.
 */
async function deleteIfTargetIsGone(app: App, target: TeamAccessTarget): Promise<void> {
  try {
    await placementOfTarget(app, target);
  } catch (error) {
    // If the workspaces service is unavailable, the grant remains.
    if (!isNotFound(error)) return;
    await app.transaction((tx) => tx.teamAccess.removeOfTargets([target.targetId]));
    throw error;
  }
}

/** Deletes the grants on those of the targets `ids` that are deleted; `listDeleted` calls the workspaces service. */
export async function deleteTeamAccessOfDeleted<Id extends TeamAccess["targetId"]>(
  app: App,
  ids: readonly Id[],
  listDeleted: (ids: readonly Id[]) => Promise<Id[]>,
): Promise<void> {
  const granted = await app.reads.teamAccess.listTargetsWithGrants(ids);
  if (granted.length === 0) return;
  const deleted = await listDeleted(granted);
  await app.transaction((tx) => tx.teamAccess.removeOfTargets(deleted));
}

/** Returns a grant. Throws `notFound` if the caller does not see it. */
export async function getTeamAccess(
  app: App,
  caller: Caller,
  id: TeamAccessId,
): Promise<TeamAccess> {
  const { visibility, ...teamAccess } = await app.reads.teamAccess.get(id);
  const { targetType } = teamAccess;
  const placement = await placementOfGrant(app, teamAccess);
  authorize(caller, actions[targetType].read, placement, "team access");
  const teams = visibleTeams(caller, targetType, placement);
  const sees =
    teams.all ||
    teams.teamIds.includes(teamAccess.teamId) ||
    (teams.open && visibility === "organization");
  if (!sees) throw asRefusal(teamAccessNotFound(), placement);
  return toView(teamAccess);
}

/**
 * Returns the grants on a target that the caller sees. Throws `notFound` if the caller is not allowed to read the
 * target.
 */
export async function listTeamAccess(
  app: App,
  caller: Caller,
  { target, ...search }: { target: TeamAccessTarget; teamId: string; page: PageInput },
): Promise<Page<TeamAccess>> {
  const placement = await placementOfTarget(app, target);
  authorize(caller, actions[target.targetType].read, placement);
  const teams = visibleTeams(caller, target.targetType, placement);
  const { rows, total } = await app.reads.teamAccess.list(target, teams, search);
  return { rows: rows.map(toView), total };
}

/**
 * Changes the level and permissions of a grant. Throws `notFound` if the grant is unknown or the caller is not allowed
 * to manage the target's teams, and `invalid` if the level or a permission is invalid.
 */
export const updateTeamAccess = (
  app: App,
  caller: Caller,
  input: {
    id: TeamAccessId;
    access: string | undefined;
    permissions: Readonly<Record<string, unknown>>;
  },
): Promise<TeamAccess> =>
  changeTeamAccess(app, caller, input.id, async (tx, teamAccess, revision) => {
    const problems = new Problems();
    const grant = checkedGrant(
      permissionTables[teamAccess.targetType],
      { access: input.access ?? teamAccess.access, permissions: input.permissions },
      problems,
      teamAccess,
    );
    problems.throwIfAny();
    Object.assign(teamAccess, grant);
    tx.teamAccess.save(teamAccess);
    await tx.record(teamAccessUpdated(teamAccess, revision));
    return toView(teamAccess);
  });

/**
 * Deletes a grant. Throws `notFound` if the grant is unknown or the caller is not allowed to manage the target's teams.
 */
export const deleteTeamAccess = (app: App, caller: Caller, id: TeamAccessId): Promise<void> =>
  changeTeamAccess(app, caller, id, async (tx, teamAccess, revision) => {
    tx.teamAccess.remove(teamAccess);
    await tx.record(teamAccessDeleted(teamAccess, revision));
  });

async function changeTeamAccess<Result>(
  app: App,
  caller: Caller,
  id: TeamAccessId,
  change: (tx: Tx, teamAccess: TeamAccess, revision: bigint) => Promise<Result>,
): Promise<Result> {
  const known = await app.reads.teamAccess.get(id);
  const placement = await placementOfGrant(app, known);
  return app.transaction(async (tx) => {
    const { organization, teamAccess } = await tx.teamAccess.getWithOrganization(id);
    // Throws `notFound` instead of `forbidden`: a caller that may read the target does not necessarily see the grants
    // on it.
    authorizeOrNotFound(caller, actions[known.targetType].manage, placement, "team access");
    return change(tx, teamAccess, touch(organization, app.now()));
  });
}
