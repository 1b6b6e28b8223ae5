import { counterFromZero, type Logger, runWithDeadline, startLoop } from "@statehouse/runtime";
import type { App } from "./app.ts";
import { RETRY_AFTER_MS } from "./pending-sync/domain.ts";
import { overdueWork } from "./reconciliation-app.ts";
import { type Comparison, compareNextPage } from "./state-comparison/app.ts";
import { discrepancies, healings } from "./state-comparison/domain.ts";

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
 * replica runs this loop. Disposal waits for the current units of work.
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
   * completed in several units. The kinds of work run concurrently: while one service does not respond, work that needs
   * another service is completed within its claim.
   */
  const completeOverdue = async (stop: AbortSignal): Promise<boolean> => {
    const claimedUntil = app.now().getTime() + RETRY_AFTER_MS;
    const kinds = (await attempt("claim of overdue work", () => overdueWork(app))) ?? [];
    const complete = async (units: (() => Promise<void>)[]): Promise<void> => {
      for (const unit of units) {
        // A unit that might not end within the claim is not started. After the claim, any replica can claim it again.
        if (stop.aborted || app.now().getTime() + UNIT_MS > claimedUntil) break;
        await attempt("pending sync", unit);
      }
    };
    await Promise.all(kinds.map(complete));
    return kinds.some((units) => units.length > 0);
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
