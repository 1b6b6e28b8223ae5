import { counterFromZero, type Logger, runWithDeadline, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { overdueWork } from "../app/reconciliation.ts";
import { type Comparison, compareNextPage } from "../app/state-comparison.ts";
import { discrepancies, healings } from "../domain/state-comparison.ts";

interface ReconciliationOptions {
  app: App;
  intervalMs: number;
  logger: Logger;
}

/** Time limit for one unit of work, in ms. */
const UNIT_MS = 10_000;
/** Maximum number of workspace ids in one log line about differences that need an operator. */
const REPORTED_IDS = 50;

/**
 * Starts a loop that completes overdue work and compares workspaces with the state service, at regular intervals. Every
 * replica runs this loop. Disposal waits for the current unit of work.
 */
export function startReconciliation({
  app,
  intervalMs,
  logger,
}: ReconciliationOptions): AsyncDisposable {
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await runWithDeadline(Date.now() + UNIT_MS, work);
    } catch (error) {
      logger.warn({ err: error }, `${what} postponed`);
      return undefined;
    }
  };
  /**
   * Completes overdue work, and returns whether there was any. More can be overdue then, because a large deletion is
   * completed in several units.
   */
  const completeOverdue = async (stop: AbortSignal): Promise<boolean> => {
    const overdue = (await attempt("claim of overdue work", () => overdueWork(app))) ?? [];
    for (const work of overdue) {
      if (stop.aborted) break;
      await attempt("pending sync", work);
    }
    return overdue.length > 0;
  };
  const differences = counterFromZero(
    "statehouse/workspaces",
    "statehouse_state_differences_total",
    {
      description: "Differences found by comparing the workspaces and state services",
      series: [
        ...healings.map((difference) => ({ difference, outcome: "healed" })),
        ...Object.keys(discrepancies).map((difference) => ({ difference, outcome: "reported" })),
      ],
    },
  );
  const report = ({ healed, reported }: Comparison): void => {
    for (const [difference, { length: count }] of healed) {
      differences.add(count, { difference, outcome: "healed" });
      logger.warn({ difference, count }, "differences between the services were repaired");
    }
    for (const [difference, workspaceIds] of reported) {
      const count = workspaceIds.length;
      differences.add(count, { difference, outcome: "reported" });
      const some = workspaceIds.slice(0, REPORTED_IDS);
      logger.error({ difference, count, workspaceIds: some }, discrepancies[difference]);
    }
  };
  const compare = async (stop: AbortSignal): Promise<void> => {
    let more: boolean | undefined = true;
    while (more && !stop.aborted) {
      // Each page has its own deadline. If a page fails, the remaining pages are left for the next step of the loop.
      more = await attempt("comparison with the state service", async () => {
        const comparison = await compareNextPage(app);
        if (comparison) report(comparison);
        return comparison !== undefined;
      });
    }
  };
  return startLoop({
    name: "reconcile workspaces",
    intervalMs,
    work: async (stop) => {
      const more = await completeOverdue(stop);
      await compare(stop);
      return more;
    },
    logger,
  });
}
