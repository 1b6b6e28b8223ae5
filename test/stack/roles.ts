import {
  type Grants,
  type OrganizationAccess,
  type OrganizationGrants,
  organizationAccessNames,
  type Principal,
  type ProjectGrant,
  permissionValues,
  projectLevels,
  type WorkspaceGrant,
  workspaceLevels,
  workspacePermissionValues,
} from "@statehouse/authorization";
import { workspaceAttributeOf } from "@statehouse/gateway/team-access/resource";
import type { Api } from "./http.ts";
import { unusedName } from "./organization.ts";
import type { Person } from "./people.ts";
import type { Stack } from "./stack.ts";
import { expectStatus } from "./state.ts";
import { projectAccess, workspaceAccess } from "./team-access.ts";

type Level<Grant extends { access: string; permissions: object }> = Pick<
  Grant,
  "access" | "permissions"
>;

/** A role that a team can have in an organization: one permission, or one access level on a project or workspace. */
export interface TeamRole {
  /** The role's name, for example `project admin` or `project workspace-access.runs=plan`. */
  name: string;
  organizationAccess: readonly OrganizationAccess[];
  onProject?: Level<ProjectGrant>;
  onWorkspace?: Level<WorkspaceGrant>;
}

/**
 * Returns the names and permissions of the custom roles in which a single permission differs from its default: one role
 * for each permission and each of its other values. `nameOf` returns the permission's name in documents.
 */
const singles = (
  values: Readonly<Record<string, readonly unknown[]>>,
  defaults: object,
  nameOf = (permission: string) => permission,
): { name: string; permissions: Record<string, unknown> }[] =>
  Object.entries(values).flatMap(([permission, known]) =>
    known
      .filter((value) => value !== Reflect.get(defaults, permission))
      .map((value) => ({
        name: `${nameOf(permission)}=${value}`,
        permissions: { [permission]: value },
      })),
  );

const onProject = (name: string, access: string, permissions = {}): TeamRole => ({
  name: `project ${name}`,
  organizationAccess: [],
  onProject: { access, permissions },
});
const onWorkspace = (name: string, access: string, permissions = {}): TeamRole => ({
  name: `workspace ${name}`,
  organizationAccess: [],
  onWorkspace: { access, permissions },
});

/**
 * Every role that a team can have, generated from the tables of `packages/authorization`: a new permission becomes a
 * new role.
 */
export const teamRoles: readonly TeamRole[] = [
  { name: "member", organizationAccess: [] },
  ...organizationAccessNames.map((name) => ({ name, organizationAccess: [name] })),
  ...Object.keys(projectLevels).map((access) => onProject(access, access)),
  ...singles(permissionValues, projectLevels.custom).map(({ name, permissions }) =>
    onProject(name, "custom", permissions),
  ),
  ...Object.keys(workspaceLevels).map((access) => onWorkspace(access, access)),
  ...singles(workspacePermissionValues, workspaceLevels.custom, workspaceAttributeOf).map(
    ({ name, permissions }) => onWorkspace(name, "custom", permissions),
  ),
];

/** Returns the role with that name. Throws if it does not exist. */
export function teamRole(name: string): TeamRole {
  const found = teamRoles.find((role) => role.name === name);
  if (!found) throw new Error(`no role ${name}`);
  return found;
}

/** The organization in which roles are granted, with a client of its owner. */
export interface RoleFixture {
  stack: Stack;
  /** The organization's internal id. */
  organizationId: string;
  owner: { api: Api };
}

/** A user whose only team has one role. */
export interface RoleHolder extends RoleGrants {
  role: TeamRole;
  person: Person;
  teamId: string;
}

/** The ids of the grants of a role. */
export interface RoleGrants {
  teamProjectId?: string;
  teamWorkspaceId?: string;
}

/** The target of a role's grant. Fields that the role does not need can be omitted. */
export interface RoleTarget {
  projectId?: string;
  workspaceId?: string;
}

/** Creates a user in a new secret team, and grants the team the role on the targets in `target`. */
export async function newRoleHolder(
  fixture: RoleFixture,
  role: TeamRole,
  target: RoleTarget,
): Promise<RoleHolder> {
  const person = await fixture.stack.people.newUser();
  const { organizationId } = fixture;
  const { organizationAccess } = role;
  const name = unusedName("role");
  const members = [person];
  const team = await fixture.stack.people.newTeam({
    organizationId,
    name,
    members,
    organizationAccess,
  });
  const grants = await giveRole(fixture, { role, teamId: team.id }, target);
  return { role, person, teamId: team.id, ...grants };
}

/**
 * Grants the team the role's access to the project or to the workspace, whichever the role concerns. Returns the ids of
 * the grants.
 */
export async function giveRole(
  { owner }: Pick<RoleFixture, "owner">,
  { role, teamId }: Pick<RoleHolder, "role" | "teamId">,
  { projectId, workspaceId }: RoleTarget,
): Promise<RoleGrants> {
  const grants: RoleGrants = {};
  if (role.onProject && projectId !== undefined) {
    const { access, permissions } = role.onProject;
    const request = projectAccess(teamId, projectId, { access, ...byGroup(permissions) });
    const { body } = await expectStatus(200, owner.api.post("/team-projects", request));
    grants.teamProjectId = body.data.id;
  }
  if (role.onWorkspace && workspaceId !== undefined) {
    const { access, permissions } = role.onWorkspace;
    const request = workspaceAccess(teamId, workspaceId, {
      access,
      ...byAttribute(permissions),
    });
    const { body } = await expectStatus(200, owner.api.post("/team-workspaces", request));
    grants.teamWorkspaceId = body.data.id;
  }
  return grants;
}

/**
 * Groups permissions in the form of project documents: `workspace-access.runs` becomes `runs` in `workspace-access`.
 */
function byGroup(permissions: object): Record<string, Record<string, unknown>> {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [name, value] of Object.entries(permissions)) {
    const [group = "", key = ""] = name.split(".");
    groups[group] = { ...groups[group], [key]: value };
  }
  return groups;
}

/** Names permissions in the form of workspace documents: `workspace-access.runs` becomes `runs`. */
const byAttribute = (permissions: object) =>
  Object.fromEntries(
    Object.entries(permissions).map(([name, value]) => [workspaceAttributeOf(name), value]),
  );

/** Returns the grants that the access service should return for a user of one organization, or of no organization. */
export const nominalGrants = (
  principal: Pick<Principal, "type" | "id">,
  organizationId: string | undefined,
  held: Partial<OrganizationGrants> = {},
): Grants => ({
  principal,
  versions: "",
  administrator: false,
  organizations: new Map(
    organizationId === undefined
      ? []
      : [
          [
            organizationId,
            {
              organizationId,
              owner: false,
              organizationAccess: new Set<string>(),
              teamIds: [],
              projects: new Map(),
              workspaces: new Map(),
              refused: false,
              ...held,
            },
          ],
        ],
  ),
});

/** Returns the grants that the access service should return for a role holder whose role was granted on `places`. */
export const grantsByRole = (
  { role, person, teamId }: RoleHolder,
  organizationId: string,
  places: readonly RoleTarget[],
): Grants =>
  nominalGrants({ type: "user", id: person.id }, organizationId, {
    teamIds: [teamId],
    organizationAccess: new Set(role.organizationAccess),
    projects: new Map(
      places.flatMap(({ projectId }) =>
        role.onProject && projectId !== undefined ? [[projectId, [role.onProject]]] : [],
      ),
    ),
    workspaces: new Map(
      places.flatMap(({ workspaceId }) =>
        role.onWorkspace && workspaceId !== undefined ? [[workspaceId, [role.onWorkspace]]] : [],
      ),
    ),
  });
