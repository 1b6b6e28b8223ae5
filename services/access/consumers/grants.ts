import { type EventHandlers, eventType, on } from "@statehouse/events";
import {
  ProjectDeletedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";

/** Forgets the grants on what is gone. Ids are never used again: until then they give nothing. */
export const grantHandlers = ({ reads }: Pick<App, "reads">): EventHandlers => ({
  ...on(ProjectDeletedSchema, ({ projectId }) => reads.teamAccess.forgetProject(projectId)),
  ...on(WorkspaceDeletedSchema, ({ workspaceId }) => reads.teamAccess.forgetWorkspace(workspaceId)),
});

/** The subjects that they are about. */
export const grantFilters = [ProjectDeletedSchema, WorkspaceDeletedSchema].map(eventType);
