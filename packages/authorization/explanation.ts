import type { Action } from "./actions.ts";
import { allowed, type Target } from "./decision.ts";
import type { OrganizationGrants, Principal, ProjectGrant, WorkspaceGrant } from "./grants.ts";

/** The grants of one team that concern one workspace. */
export interface TeamGrants {
  teamId: string;
  owners: boolean;
  organizationAccess: readonly string[];
  onTargets: readonly (
    | (ProjectGrant & { targetType: "project"; targetId: string })
    | (WorkspaceGrant & { targetType: "workspace"; targetId: string })
  )[];
}

/** One grant that allows an action. */
export interface PermissionSource {
  teamId: string;
  targetType: "organization" | "project" | "workspace";
  targetId: string;
  /** `owners`, an organization-level permission, or an access level. */
  access: string;
}

const none = {
  owner: false,
  organizationAccess: new Set<string>(),
  teamIds: [],
  projects: new Map<string, ProjectGrant[]>(),
  workspaces: new Map<string, WorkspaceGrant[]>(),
  refused: false,
};

/**
 * Returns those grants of the teams that allow the action on the target. `allowed` decides about each grant separately.
 * Because permissions are the union of all grants (ADR 4), an explanation cannot differ from a decision.
 */
export function explain(
  principalType: Principal["type"],
  teams: readonly TeamGrants[],
  action: Action,
  target: Required<Target>,
): PermissionSource[] {
  const allows = (part: Partial<OrganizationGrants>) =>
    allowed(
      {
        principal: { type: principalType, id: "" },
        versions: "",
        administrator: false,
        organizations: new Map([
          [target.organizationId, { ...none, organizationId: target.organizationId, ...part }],
        ]),
      },
      action,
      target,
    );
  return teams.flatMap((team) =>
    singleGrants(team, target.organizationId)
      .filter(({ part }) => allows(part))
      .map(({ source }) => source),
  );
}

/** Returns the grants of a team one by one: each result contains exactly one grant. */
function singleGrants(
  { teamId, owners, organizationAccess, onTargets }: TeamGrants,
  organizationId: string,
): { source: PermissionSource; part: Partial<OrganizationGrants> }[] {
  const onOrganization = (access: string) =>
    ({ teamId, targetType: "organization", targetId: organizationId, access }) as const;
  return [
    ...(owners ? [{ source: onOrganization("owners"), part: { owner: true } }] : []),
    ...organizationAccess.map((access) => ({
      source: onOrganization(access),
      part: { organizationAccess: new Set([access]) },
    })),
    ...onTargets.map((grant) => {
      const { targetType, targetId, access } = grant;
      const part =
        grant.targetType === "project"
          ? { projects: new Map([[targetId, [grant]]]) }
          : { workspaces: new Map([[targetId, [grant]]]) };
      return { source: { teamId, targetType, targetId, access }, part };
    }),
  ];
}
