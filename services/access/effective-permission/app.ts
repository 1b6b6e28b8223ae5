import {
  type Action,
  authorizeOrNotFound,
  type Caller,
  explain,
  type PermissionSource,
  workspaceActions,
} from "@statehouse/authorization";
import { idsIn } from "@statehouse/postgres/ids";
import type { App } from "../app.ts";
import { principalNotFound, principalRequired } from "../errors-domain.ts";
import type { TeamId, UserId, WorkspaceId } from "../ids-domain.ts";
import { batchGetTeams } from "../team/app.ts";

/** An action that a principal may perform, with the grants that allow it. */
export interface EffectivePermission {
  action: Action;
  /** The name of a team that the caller does not see is empty. */
  sources: (PermissionSource & { teamName: string })[];
}

/**
 * Returns each action that the principal may perform on the workspace, with the grants that allow it. Throws `notFound`
 * if the caller is not allowed to manage the workspace's teams, or if the principal has no access to the workspace's
 * organization. Throws `badRequest` if `principal` is undefined.
 */
export async function listWorkspacePermissions(
  app: App,
  caller: Caller,
  {
    workspaceId,
    principal,
  }: {
    workspaceId: WorkspaceId;
    /** Undefined if the request does not name exactly one principal. */
    principal: { type: "user"; id: UserId } | { type: "team"; id: TeamId } | undefined;
  },
): Promise<EffectivePermission[]> {
  const target = await app.workspaces.placementOfWorkspace(workspaceId);
  authorizeOrNotFound(caller, "workspace:manage-teams", target, "workspace");
  if (!principal) throw principalRequired();
  const grants = await app.reads.grants.find(principal);
  const organization = grants?.organizations.get(target.organizationId);
  if (!organization) throw principalNotFound();
  // The organization does not accept user tokens, and the principal is a user.
  if (organization.refused) return [];
  const targets = [target.projectId, target.workspaceId];
  const teams = await app.reads.grants.listOfTeams(organization.teamIds, targets);
  // A caller that manages the workspace's access need not see every team that has access.
  const seen = await batchGetTeams(app, caller, idsIn("team", organization.teamIds));
  const names = new Map<string, string>(seen.map(({ id, name }) => [id, name]));
  return workspaceActions
    .map((action) => ({
      action,
      sources: explain(principal.type, teams, action, target).map((source) => ({
        ...source,
        teamName: names.get(source.teamId) ?? "",
      })),
    }))
    .filter(({ sources }) => sources.length > 0);
}
