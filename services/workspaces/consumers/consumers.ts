import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { pendingSyncProjections } from "./pending-sync.ts";
import { workspaceStateProjection } from "./workspace-state.ts";

/** The event subscriptions of the workspaces service. */
export const consumers = (app: App): Consumer[] => [
  { name: "workspace-state", projections: [workspaceStateProjection(app)] },
  { name: "unsettled", projections: pendingSyncProjections(app) },
];
