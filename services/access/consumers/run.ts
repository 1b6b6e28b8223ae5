import { type EventHandlers, eventType, on } from "@statehouse/events";
import {
  RunEndedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { endRun, endRunsOfWorkspace } from "../app/run-token.ts";

/** Revokes the tokens of runs that have ended. */
export const runHandlers = (app: Pick<App, "transaction">): EventHandlers => ({
  ...on(RunEndedSchema, ({ runId }) => endRun(app, runId)),
  ...on(WorkspaceDeletedSchema, ({ workspaceId }) => endRunsOfWorkspace(app, workspaceId)),
});

/** The types of consumed events. */
export const runFilters = [RunEndedSchema, WorkspaceDeletedSchema].map(eventType);
