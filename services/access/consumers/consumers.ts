import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { grantFilters, grantHandlers } from "./grants.ts";
import { runFilters, runHandlers } from "./run.ts";

/** Everything that access listens to. */
export const consumers = (app: App): Consumer[] => [
  { name: "grants", filters: grantFilters, handlers: grantHandlers(app) },
  { name: "runs", filters: runFilters, handlers: runHandlers(app) },
];
