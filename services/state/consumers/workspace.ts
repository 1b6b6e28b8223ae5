import { type EventHandlers, on } from "@statehouse/events";
import { isId } from "@statehouse/postgres/ids";
import {
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { movePlacement } from "../app/workspace-placement.ts";
import { dropWorkspace } from "../app/workspace-state.ts";

/** Repeats a call of workspaces that may be missing because workspaces crashed between its commit and the call. */
export const workspaceHandlers = (app: App): EventHandlers => ({
  ...on(WorkspaceDeletedSchema, async ({ workspaceId }) => {
    if (isId("ws", workspaceId)) await dropWorkspace(app, workspaceId);
  }),
  ...on(WorkspaceUpdatedSchema, async ({ workspaceId, placementVersion, ...placement }) => {
    if (!isId("ws", workspaceId)) return;
    const { organizationId, projectId } = placement;
    await movePlacement(app, { workspaceId, organizationId, projectId, version: placementVersion });
  }),
});
