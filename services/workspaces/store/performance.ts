import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { WorkspaceId } from "../domain/ids.ts";
import { noPerformance, type Performance } from "../domain/performance.ts";

/**
 * Reads and writes of the sums of a workspace's performance, inside a transaction that holds the lock on the
 * workspace's row.
 */
const rows = (em: EntityManager) => ({
  async get(workspaceId: WorkspaceId): Promise<Performance> {
    const [row] = await queryIn<Performance>(
      em,
      // index: workspace_performance_pkey
      `select runs, run_failures as "runFailures", policy_check_failures as "policyCheckFailures",
         plan_runs as "planRuns", plan_ms as "planMs", apply_runs as "applyRuns", apply_ms as "applyMs"
       from workspace_performance where workspace_id = $1`,
      [workspaceId],
    );
    return row ?? noPerformance;
  },

  async save(workspaceId: WorkspaceId, sums: Performance): Promise<void> {
    await queryIn(
      em,
      `insert into workspace_performance (workspace_id, runs, run_failures, policy_check_failures,
         plan_runs, plan_ms, apply_runs, apply_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (workspace_id) do update set runs = excluded.runs,
         run_failures = excluded.run_failures,
         policy_check_failures = excluded.policy_check_failures, plan_runs = excluded.plan_runs,
         plan_ms = excluded.plan_ms, apply_runs = excluded.apply_runs, apply_ms = excluded.apply_ms`,
      [
        workspaceId,
        sums.runs,
        sums.runFailures,
        sums.policyCheckFailures,
        sums.planRuns,
        sums.planMs,
        sums.applyRuns,
        sums.applyMs,
      ],
    );
  },
});

export const performance = { rows };
