import { conflict, notFound } from "@statehouse/errors";
import type { Placed, RunId, WorkspaceId } from "../ids-domain.ts";

/** A run in the form of its last report: the values that rules use, and the complete report. */
export interface Run {
  id: RunId;
  /** The name of the runner that first reported this run. */
  runner: string;
  workspaceId: WorkspaceId;
  revision: bigint;
  status: RunStatus;
  createdAt: Date;
  /** Whether the run is speculative: it plans and never applies. */
  planOnly: boolean;
  isDestroy: boolean;
  configurationVersionId: string | null;
  policyCheckFailed: boolean;
  /** Duration of the plan phase, in ms; null until the phase has ended. */
  planMs: number | null;
  /** Duration of the apply phase, in ms; null until the phase has ended. */
  applyMs: number | null;
  /** The complete report, as JSON. */
  report: object;
}

interface StatusRule {
  /** True if a run with this status has ended. */
  final?: true;
  /** True if a run with this status is part of the workspace's performance, which covers errored and applied runs. */
  measured?: true;
  failed?: true;
}

/** The statuses of a run, with the rules that apply to each. */
export const runStatuses = {
  pending: {},
  fetching: {},
  fetching_completed: {},
  pre_plan_running: {},
  pre_plan_completed: {},
  queuing: {},
  plan_queued: {},
  planning: {},
  planned: {},
  cost_estimating: {},
  cost_estimated: {},
  policy_checking: {},
  policy_override: {},
  policy_checked: {},
  post_plan_running: {},
  post_plan_completed: {},
  confirmed: {},
  planned_and_saved: {},
  queuing_apply: {},
  apply_queued: {},
  pre_apply_running: {},
  pre_apply_completed: {},
  applying: {},
  applied: { final: true, measured: true },
  errored: { final: true, measured: true, failed: true },
  planned_and_finished: { final: true },
  policy_soft_failed: { final: true },
  discarded: { final: true },
  canceled: { final: true },
  force_canceled: { final: true },
} as const satisfies Record<string, StatusRule>;

export type RunStatus = keyof typeof runStatuses;

const ruleOf = (status: RunStatus): StatusRule => runStatuses[status];

/** Returns whether a run status with this name exists. */
export const isRunStatus = (name: string): name is RunStatus => Object.hasOwn(runStatuses, name);

/** Returns whether a run with this status has ended. */
export const isEnded = (status: RunStatus): boolean => ruleOf(status).final === true;

/** Returns whether a run with this status is part of the workspace's performance. */
export const isMeasured = (status: RunStatus): boolean => ruleOf(status).measured === true;

/** Returns whether a run with this status is counted as a failure. */
export const isFailed = (status: RunStatus): boolean => ruleOf(status).failed === true;

/** A run with the commit of its configuration, and with the organization and project that authorization needs. */
export interface RunView extends Pick<Run, "id" | "workspaceId" | "report">, Placed {
  /** Null also if the workspace is not connected to a repository now. */
  commitSha: string | null;
  commitUrl: string | null;
}

export const runNotFound = () => notFound("run");

/** Thrown if a lock or a token is requested for a run that has ended. */
export const runAlreadyEnded = () => conflict("run_ended", "The run has ended.");

/** Thrown if a run accesses a workspace other than the one that it was reported for. */
export const runOfOtherWorkspace = () =>
  conflict("run_of_other_workspace", "The run belongs to another workspace.");
