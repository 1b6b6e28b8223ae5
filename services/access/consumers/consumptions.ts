import type { Consumption } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { runFilters, runHandlers } from "./run.ts";

/** Everything that access listens to. */
export const consumptions = (app: Pick<App, "reads">): Consumption[] => [
  { name: "runs", filters: runFilters, handlers: runHandlers(app) },
];
