import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { grantFilters, grantHandlers } from "./grants.ts";
import { runFilters, runHandlers } from "./run.ts";

/** The event subscriptions of access. */
export const consumers = (app: App): Consumer[] => [
  { name: "grants", filters: grantFilters, handlers: grantHandlers(app) },
  { name: "runs", filters: runFilters, handlers: runHandlers(app) },
];
