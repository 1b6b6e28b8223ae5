import type { EffectivePermissionService } from "@statehouse/proto/statehouse/access/v1/effective_permission";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { teamId, userId, workspaceId } from "../ids-rpc.ts";
import { listWorkspacePermissions } from "./app.ts";

export const effectivePermissionService = (
  app: App,
): ServiceImpl<typeof EffectivePermissionService> => ({
  listWorkspacePermissions: async ({ principalType, principalId, ...request }, { caller }) => {
    const search = {
      workspaceId: workspaceId(request.workspaceId),
      principal: principalOf(principalType, principalId),
    };
    return { effectivePermissions: await listWorkspacePermissions(app, caller, search) };
  },
});

function principalOf(type: string, id: string) {
  if (type === "user") return { type, id: userId(id) } as const;
  if (type === "team") return { type, id: teamId(id) } as const;
  return undefined;
}
