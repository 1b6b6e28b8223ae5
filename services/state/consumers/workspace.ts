import { type EventHandlers, on } from "@statehouse/events";
import {
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { movePlacement } from "../app/workspace-placement.ts";
import { dropWorkspace } from "../app/workspace-state.ts";
import { isWorkspaceId } from "../domain/ids.ts";

/** Repeats what workspaces calls us for, in case it died between its commit and the call. */
export const workspaceHandlers = (app: App): EventHandlers => ({
  ...on(WorkspaceDeletedSchema, async ({ workspaceId }) => {
    if (isWorkspaceId(workspaceId)) await dropWorkspace(app, workspaceId);
  }),
  ...on(WorkspaceUpdatedSchema, async ({ workspaceId, placementVersion, ...placement }) => {
    if (!isWorkspaceId(workspaceId)) return;
    const { organizationId, projectId } = placement;
    await movePlacement(app, { workspaceId, organizationId, projectId, version: placementVersion });
  }),
});
