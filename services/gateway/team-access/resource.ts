import {
  permissionValues,
  projectLevels,
  workspaceLevels,
  workspacePermissionValues,
} from "@statehouse/authorization";
import type { TeamAccess } from "@statehouse/proto/statehouse/access/v1/team_access";
import { z } from "zod";
import { withBothSpellings } from "../brand-names-resource.ts";
import type { RequestContext } from "../http/route.ts";
import { toOneOf } from "../jsonapi/relationship.ts";
import { type Relationship, resource } from "../jsonapi/resource.ts";
import { time } from "../jsonapi/shape.ts";
import { projectResource } from "../project/resource.ts";
import { teamResource } from "../team/resource.ts";
import { timestamp } from "../timestamps-resource.ts";

/** The permissions on a workspace, each with its attribute in documents. */
export const workspacePermissions = [
  ["workspace-access.runs", "runs"],
  ["workspace-access.variables", "variables"],
  ["workspace-access.state-versions", "state-versions"],
  ["workspace-access.policy-mocks", "policy-mocks"],
  ["workspace-access.locking", "workspace-locking"],
  ["workspace-access.run-tasks", "run-tasks"],
  ["workspace-access.policy-overrides", "policy-overrides"],
] as const;

const attributesByPermission = new Map<string, string>(workspacePermissions);

/** Returns the attribute of a permission in documents about a workspace; an unknown permission keeps its name. */
export const workspaceAttributeOf = (permission: string): string =>
  attributesByPermission.get(permission) ?? permission;

/**
 * Returns the project permissions of one group: those whose names begin with the group's prefix. The result omits the
 * prefix.
 */
const groupOf = (group: string, permissions: TeamAccess["permissions"]) =>
  Object.fromEntries(
    Object.entries(permissions ?? {})
      .filter(([name]) => name.startsWith(`${group}.`))
      .map(([name, value]) => [name.slice(group.length + 1), value]),
  );

/** The schema of one group of project permissions. */
const groupShape = (group: string) =>
  z.object(
    withBothSpellings(
      Object.fromEntries(
        Object.entries(permissionValues)
          .filter(([name]) => name.startsWith(`${group}.`))
          .map(([name, values]) => [name.slice(group.length + 1), z.literal(values)]),
      ),
    ),
  );

const team: Relationship<TeamAccess, RequestContext> = toOneOf({
  type: "teams",
  idOf: ({ teamId }) => teamId,
  link: ({ teamId }) => `/api/v2/teams/${teamId}`,
  resource: () => teamResource,
});

/** A team's access to a project. With a fixed access level, the permissions are those that the level implies. */
export const teamProjectResource = resource<TeamAccess, RequestContext>({
  type: "team-projects",
  id: ({ id }) => id,
  attributes: {
    access: [z.enum(Object.keys(projectLevels)), ({ access }) => access],
    "project-access": [
      groupShape("project-access"),
      ({ permissions }) => groupOf("project-access", permissions),
    ],
    "workspace-access": [
      groupShape("workspace-access"),
      ({ permissions }) => withBothSpellings(groupOf("workspace-access", permissions)),
    ],
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
  },
  relationships: {
    team,
    project: toOneOf({
      type: "projects",
      idOf: ({ targetId }) => targetId,
      link: ({ targetId }) => `/api/v2/projects/${targetId}`,
      resource: () => projectResource,
    }),
  },
  links: ({ id }) => ({ self: `/api/v2/team-projects/${id}` }),
});

/** A team's access to a workspace. With a fixed access level, the permissions are those that the level implies. */
export const teamWorkspaceResource = resource<TeamAccess, RequestContext>({
  type: "team-workspaces",
  id: ({ id }) => id,
  attributes: {
    access: [z.enum(Object.keys(workspaceLevels)), ({ access }) => access],
    ...withBothSpellings(
      Object.fromEntries(
        Object.entries(workspacePermissionValues).map(([name, values]) => [
          workspaceAttributeOf(name),
          [z.literal(values), ({ permissions }: TeamAccess) => permissions?.[name]] as const,
        ]),
      ),
    ),
  },
  relationships: {
    team,
    workspace: toOneOf({
      type: "workspaces",
      idOf: ({ targetId }) => targetId,
      link: ({ targetId }) => `/api/v2/workspaces/${targetId}`,
    }),
  },
  links: ({ id }) => ({ self: `/api/v2/team-workspaces/${id}` }),
});
