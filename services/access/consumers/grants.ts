import { type EventHandlers, eventType, on } from "@statehouse/events";
import { isId } from "@statehouse/postgres/ids";
import {
  ProjectDeletedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { deleteTeamAccessOfTarget } from "../app/team-access.ts";

/** Deletes the grants on a deleted target. Until then they have no effect, because ids are never reused. */
export const grantHandlers = (app: Pick<App, "transaction">): EventHandlers => ({
  ...on(ProjectDeletedSchema, async ({ projectId: targetId }) => {
    if (!isId("prj", targetId)) return;
    await deleteTeamAccessOfTarget(app, { targetType: "project", targetId });
  }),
  ...on(WorkspaceDeletedSchema, async ({ workspaceId: targetId }) => {
    if (!isId("ws", targetId)) return;
    await deleteTeamAccessOfTarget(app, { targetType: "workspace", targetId });
  }),
});

/** The types of consumed events. */
export const grantFilters = [ProjectDeletedSchema, WorkspaceDeletedSchema].map(eventType);
