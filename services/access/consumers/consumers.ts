import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { grantProjections } from "./grants.ts";
import { runProjections } from "./run.ts";

/** The event subscriptions of the access service. */
export const consumers = (app: App): Consumer[] => [
  { name: "grants", projections: grantProjections(app) },
  { name: "runs", projections: runProjections(app) },
];
