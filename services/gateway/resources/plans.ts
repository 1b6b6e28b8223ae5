import type { Plan, RunReport } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

/** A run's plan, which is part of the run's report. */
export interface ReportedPlan {
  plan: Plan;
  run: RunReport;
}

export const planResource = resource<ReportedPlan, RequestContext>({
  type: "plans",
  id: ({ plan }) => plan.id,
  attributes: ({ plan, run }) => ({
    status: plan.status,
    "has-changes": run.hasChanges ?? false,
    "resource-additions": plan.resourceAdditions ?? null,
    "resource-changes": plan.resourceChanges ?? null,
    "resource-destructions": plan.resourceDestructions ?? null,
    "resource-imports": plan.resourceImports ?? null,
    "log-read-url": null,
    "status-timestamps": {
      "started-at": timestamp(plan.startedAt),
      "finished-at": timestamp(plan.finishedAt),
    },
  }),
});
