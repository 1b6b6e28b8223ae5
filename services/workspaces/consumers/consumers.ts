import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { pendingSyncHandlers } from "./pending-sync.ts";
import { runHandlers } from "./run.ts";
import { workspaceStateHandlers } from "./workspace-state.ts";

/** The events that workspaces consumes. */
export const consumers = (app: App): Consumer[] => [
  {
    name: "workspace-state",
    filters: ["statehouse.state.workspace-state.>"],
    handlers: workspaceStateHandlers(app),
  },
  { name: "runs", filters: ["statehouse.runs.>"], handlers: runHandlers(app) },
  { name: "unsettled", filters: ["statehouse.workspaces.>"], handlers: pendingSyncHandlers(app) },
];
