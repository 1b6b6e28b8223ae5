import type { Consumption } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { organizationHandlers } from "./organization.ts";
import { workspaceHandlers } from "./workspace.ts";

/** The events that state consumes. */
export function consumptions(app: App): Consumption[] {
  const handlers = { ...workspaceHandlers(app), ...organizationHandlers(app) };
  return [{ name: "workspaces", filters: Object.keys(handlers), handlers }];
}
