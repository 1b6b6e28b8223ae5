import type { WorkspacePerformance } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";

const duration = (ms: bigint | undefined): number | null => (ms === undefined ? null : Number(ms));

/** Renders the performance attributes, which are read-only and null before the first errored or applied run. */
export const workspacePerformance = (performance: WorkspacePerformance | undefined) => ({
  "apply-duration-average": duration(performance?.applyDurationAverage),
  "plan-duration-average": duration(performance?.planDurationAverage),
  "policy-check-failures": performance?.policyCheckFailures ?? null,
  "run-failures": performance?.runFailures ?? null,
  "workspace-kpis-run-count": performance?.runs ?? null,
  "workspace-kpis-runs-count": performance?.runs ?? null,
});

/** The schemas of the attributes that `workspacePerformance` returns. */
export const workspacePerformanceShape = Object.fromEntries(
  Object.keys(workspacePerformance(undefined)).map((name) => [name, z.int().nullable()]),
);
