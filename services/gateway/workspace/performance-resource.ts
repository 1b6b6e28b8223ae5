import type {
  Workspace,
  WorkspacePerformance,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import type { Attributes } from "../jsonapi/resource.ts";

/** Declares an attribute that is null before the first errored or applied run. */
const measured = (show: (performance: WorkspacePerformance) => number | bigint | undefined) =>
  [
    z.int().nullable(),
    ({ performance }: Workspace) => {
      const value = performance && show(performance);
      return value === undefined ? null : Number(value);
    },
  ] as const;

/** The performance attributes, which are read-only. */
export const workspacePerformance: Attributes<Workspace, RequestContext> = {
  "apply-duration-average": measured(({ applyDurationAverage }) => applyDurationAverage),
  "plan-duration-average": measured(({ planDurationAverage }) => planDurationAverage),
  "policy-check-failures": measured(({ policyCheckFailures }) => policyCheckFailures),
  "run-failures": measured(({ runFailures }) => runFailures),
  "workspace-kpis-run-count": measured(({ runs }) => runs),
  "workspace-kpis-runs-count": measured(({ runs }) => runs),
};
