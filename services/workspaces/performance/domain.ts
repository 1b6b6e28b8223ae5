import { newRow } from "@statehouse/postgres/new-row";
import type { WorkspaceId } from "../ids-domain.ts";
import { isFailed, type Run } from "../run/domain.ts";

/** The maximum number of runs that a workspace's performance covers. */
export const WINDOW = 30;

/** The values of one run that contribute to its workspace's performance. */
export type MeasuredRun = Pick<
  Run,
  "id" | "status" | "createdAt" | "policyCheckFailed" | "planMs" | "applyMs"
>;

/** The stored performance of a workspace. */
export class WorkspacePerformance {
  declare workspaceId: WorkspaceId;
  declare runs: number;
  declare runFailures: number;
  declare policyCheckFailures: number;
  /** Number of runs whose plan phase has ended. */
  declare planRuns: number;
  /** Total duration of these plan phases, in ms. */
  declare planMs: number;
  /** Number of runs whose apply phase has ended. */
  declare applyRuns: number;
  /** Total duration of these apply phases, in ms. */
  declare applyMs: number;
}

/** Counts and total durations of a workspace's most recent errored or applied runs. */
export type Performance = Omit<WorkspacePerformance, "workspaceId">;

export const noPerformance: Performance = {
  runs: 0,
  runFailures: 0,
  policyCheckFailures: 0,
  planRuns: 0,
  planMs: 0,
  applyRuns: 0,
  applyMs: 0,
};

/** Creates the performance of a workspace without measured runs. */
export const newPerformance = (workspaceId: WorkspaceId): WorkspacePerformance =>
  newRow(WorkspacePerformance, { workspaceId, ...noPerformance });

/** Returns the sums with `run` added. */
export const withRun = (sums: Performance, run: MeasuredRun): Performance => counted(sums, run, 1);

/** Returns the sums without `run`, which the sums must include. */
export const withoutRun = (sums: Performance, run: MeasuredRun): Performance =>
  counted(sums, run, -1);

/** Returns the performance of a workspace, computed from its newest errored or applied runs. */
export const performanceOf = (measured: readonly MeasuredRun[]): Performance =>
  measured
    .toSorted((one, other) => (isNewer(one, other) ? -1 : 1))
    .slice(0, WINDOW)
    .reduce(withRun, noPerformance);

/** Returns whether run `one` is newer than `other`. Runs created at the same time are ordered by id. */
export function isNewer(
  one: Pick<MeasuredRun, "id" | "createdAt">,
  other: Pick<MeasuredRun, "id" | "createdAt">,
): boolean {
  const difference = one.createdAt.getTime() - other.createdAt.getTime();
  return difference === 0 ? one.id > other.id : difference > 0;
}

/** Returns `total` (in ms) divided by `runs`; null if there are no runs. */
export const average = (total: number, runs: number): bigint | null =>
  runs === 0 ? null : BigInt(Math.round(total / runs));

function counted(sums: Performance, run: MeasuredRun, sign: 1 | -1): Performance {
  const one = (is: boolean) => (is ? sign : 0);
  return {
    runs: sums.runs + sign,
    runFailures: sums.runFailures + one(isFailed(run.status)),
    policyCheckFailures: sums.policyCheckFailures + one(run.policyCheckFailed),
    planRuns: sums.planRuns + one(run.planMs !== null),
    planMs: sums.planMs + sign * (run.planMs ?? 0),
    applyRuns: sums.applyRuns + one(run.applyMs !== null),
    applyMs: sums.applyMs + sign * (run.applyMs ?? 0),
  };
}
