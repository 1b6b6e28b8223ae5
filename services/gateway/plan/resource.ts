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
  attributes: {
    status: [z.string(), ({ plan }) => plan.status],
    "has-changes": [z.boolean(), ({ run }) => run.hasChanges ?? false],
    "resource-additions": [z.int().nullable(), ({ plan }) => plan.resourceAdditions ?? null],
    "resource-changes": [z.int().nullable(), ({ plan }) => plan.resourceChanges ?? null],
    "resource-destructions": [z.int().nullable(), ({ plan }) => plan.resourceDestructions ?? null],
    "resource-imports": [z.int().nullable(), ({ plan }) => plan.resourceImports ?? null],
    "log-read-url": [z.null(), () => null],
    "status-timestamps": [
      z.object({ "started-at": optionalTime, "finished-at": optionalTime }),
      ({ plan }) => ({
        "started-at": timestamp(plan.startedAt),
        "finished-at": timestamp(plan.finishedAt),
      }),
    ],
  },
});
