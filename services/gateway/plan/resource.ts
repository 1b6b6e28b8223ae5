import type { Plan, RunReport } from "@statehouse/proto/statehouse/runs/v1/run_report";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalTime } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

/** A run's plan. A runner reports it together with the run. */
export interface ReportedPlan {
  plan: Plan;
  run: RunReport;
}

export const planResource = resource<ReportedPlan, RequestContext>({
  type: "plans",
  id: ({ plan }) => plan.id,
  shape: {
    status: z.string(),
    "has-changes": z.boolean(),
    "resource-additions": z.int().nullable(),
    "resource-changes": z.int().nullable(),
    "resource-destructions": z.int().nullable(),
    "resource-imports": z.int().nullable(),
    "log-read-url": z.null(),
    "status-timestamps": z.object({ "started-at": optionalTime, "finished-at": optionalTime }),
  },
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
