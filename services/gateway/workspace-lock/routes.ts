import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { z } from "zod";
import { one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { optional } from "../jsonapi/body.ts";
import { workspaceResource } from "../workspace/resource.ts";

const reason = optional(z.string());

/**
 * The CLI sends a document with an empty type, the public documentation shows a bare `reason`, and other clients send
 * no body.
 */
const lockBody = z
  .object({
    reason,
    data: optional(z.object({ attributes: optional(z.object({ reason })) })),
  })
  .transform((body) => ({ reason: body.data?.attributes?.reason ?? body.reason ?? "" }));

export const workspaceLockRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/workspaces/:workspaceId/actions/lock",
    summary: "Lock a workspace",
    body: lockBody,
    success: [200, one(workspaceResource, "workspace")],
    failures: [404, 409, 422],
    handle: ({ client, params, body, caller }) =>
      client(WorkspaceLockService).lockWorkspace(
        { workspaceId: params.workspaceId, reason: body.reason },
        caller,
      ),
  }),
  route({
    method: "POST",
    path: "/workspaces/:workspaceId/actions/unlock",
    summary: "Unlock a workspace",
    success: [200, one(workspaceResource, "workspace")],
    failures: [404, 409, 503],
    handle: ({ client, params, caller }) =>
      client(WorkspaceLockService).unlockWorkspace({ workspaceId: params.workspaceId }, caller),
  }),
  route({
    method: "POST",
    path: "/workspaces/:workspaceId/actions/force-unlock",
    summary: "Force-unlock a workspace",
    success: [200, one(workspaceResource, "workspace")],
    failures: [404, 409, 503],
    handle: ({ client, params, caller }) =>
      client(WorkspaceLockService).forceUnlockWorkspace(
        { workspaceId: params.workspaceId },
        caller,
      ),
  }),
];
