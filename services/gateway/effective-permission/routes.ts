import { EffectivePermissionService } from "@statehouse/proto/statehouse/access/v1/effective_permission";
import { text } from "../http/query.ts";
import { one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { effectivePermissionsResource } from "./resource.ts";

export const effectivePermissionRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: "/workspaces/:workspaceId/effective-permissions",
    summary: "Explain what a user or team may do to a workspace, and which grants allow it",
    query: {
      user: text("filter[user]", "The id of the user whose permissions are explained."),
      team: text("filter[team]", "The id of the team whose permissions are explained."),
    },
    success: [200, one(effectivePermissionsResource, "effectivePermissions")],
    failures: [400, 404],
    handle: async ({ client, params, query: { user, team }, caller }) => {
      const { workspaceId } = params;
      // A request that does not name exactly one principal is invalid. It is forwarded without a principal: the service
      // authorizes first, so that 404 precedes 400.
      const named = [
        ["user", user],
        ["team", team],
      ].filter(([, id]) => id !== "");
      const [principalType = "", principalId = ""] = (named.length === 1 && named[0]) || [];
      const { effectivePermissions: permissions } = await client(
        EffectivePermissionService,
      ).listWorkspacePermissions({ workspaceId, principalType, principalId }, caller);
      const principal = { type: user ? "users" : "teams", id: principalId } as const;
      return { effectivePermissions: { workspaceId, principal, permissions } };
    },
  }),
];
