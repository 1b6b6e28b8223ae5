import type { EffectivePermission } from "@statehouse/proto/statehouse/access/v1/effective_permission";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { toOne, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { permissionShape } from "../permissions-resource.ts";
import { workspacePermissionTable } from "../workspace/permissions-resource.ts";

/** The permissions of a user or team on a workspace. */
export interface EffectivePermissions {
  workspaceId: string;
  principal: { type: "users" | "teams"; id: string };
  permissions: readonly EffectivePermission[];
}

const sourceShape = z.object({
  "team-id": z.string(),
  "team-name": z.string().describe("Empty if the caller does not see the team."),
  "target-type": z.enum(["organization", "project", "workspace"]),
  "target-id": z.string(),
  access: z.string(),
});

/** Returns the grants that allow each permission. */
function sourcesOf({ permissions }: EffectivePermissions) {
  const byAction = new Map(permissions.map(({ action, sources }) => [action, sources]));
  return Object.entries(workspacePermissionTable).map(
    ([name, action]) => [name, (action && byAction.get(action)) ?? []] as const,
  );
}

/**
 * The effective permissions of a user or team, under the names that a workspace's document uses. Each permission lists
 * the grants that allow it. A permission without grants is false.
 */
export const effectivePermissionsResource = resource<EffectivePermissions, RequestContext>({
  type: "effective-permissions",
  id: ({ workspaceId, principal }) => `${workspaceId}:${principal.id}`,
  attributes: {
    permissions: [
      permissionShape(workspacePermissionTable),
      (item) => Object.fromEntries(sourcesOf(item).map(([name, { length }]) => [name, length > 0])),
    ],
    "granted-by": [
      z.object(
        Object.fromEntries(
          Object.keys(workspacePermissionTable).map((name) => [name, z.array(sourceShape)]),
        ),
      ),
      (item) =>
        Object.fromEntries(
          sourcesOf(item).map(([name, sources]) => [
            name,
            sources.map(({ teamId, teamName, targetType, targetId, access }) => ({
              "team-id": teamId,
              "team-name": teamName,
              "target-type": targetType,
              "target-id": targetId,
              access,
            })),
          ]),
        ),
    ],
  },
  relationships: {
    workspace: toOneOf({ type: "workspaces", idOf: ({ workspaceId }) => workspaceId }),
    principal: toOne({ types: ["users", "teams"], linkage: ({ principal }) => principal }),
  },
});
