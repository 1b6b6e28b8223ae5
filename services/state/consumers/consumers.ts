import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { organizationHandlers } from "./organization.ts";
import { workspaceHandlers } from "./workspace.ts";

/** The events that state consumes. */
export function consumers(app: App): Consumer[] {
  const handlers = { ...workspaceHandlers(app), ...organizationHandlers(app) };
  return [{ name: "workspaces", filters: Object.keys(handlers), handlers }];
}
