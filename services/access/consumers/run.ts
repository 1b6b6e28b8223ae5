import { type EventHandlers, eventType, on } from "@statehouse/events";
import {
  RunEndedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { endRun, endRunsOf } from "../app/run-token.ts";

/** Events that end the tokens of runs. */
export const runHandlers = (app: Pick<App, "reads">): EventHandlers => ({
  ...on(RunEndedSchema, ({ runId }) => endRun(app, runId)),
  ...on(WorkspaceDeletedSchema, ({ workspaceId }) => endRunsOf(app, workspaceId)),
});

/** The subjects of these events. */
export const runFilters = [RunEndedSchema, WorkspaceDeletedSchema].map(eventType);
