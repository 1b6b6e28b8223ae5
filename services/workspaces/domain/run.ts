import { conflict, notFound } from "@statehouse/errors";
import type { OrganizationId, ProjectId, RunId, WorkspaceId } from "./ids.ts";

/** A run as last reported by its runner: the values that rules use, and the complete report. */
export interface Run {
  id: RunId;
  /** The name of the runner that reported it first. */
  runner: string;
  workspaceId: WorkspaceId;
  revision: bigint;
  status: RunStatus;
  createdAt: Date;
  /** Speculative: the run never applies. */
  planOnly: boolean;
  isDestroy: boolean;
  configurationVersionId: string | null;
  policyCheckFailed: boolean;
  /** Durations of the run's phases, in ms; null until they have ended. */
  planMs: number | null;
  applyMs: number | null;
  /** The complete report, as JSON. */
  report: object;
}

interface StatusRule {
  /** The run has ended. */
  final?: true;
  /** Specification: performance covers runs that "ended in error or were applied". */
  measured?: true;
  failed?: true;
}

/** The statuses of a run. */
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

/** Whether a run status with this name exists. */
export const isRunStatus = (name: string): name is RunStatus => Object.hasOwn(runStatuses, name);

/** Whether a run with this status has ended. */
export const isEnded = (status: RunStatus): boolean => ruleOf(status).final === true;

/** Whether a run with this status counts for the workspace's performance. */
export const isMeasured = (status: RunStatus): boolean => ruleOf(status).measured === true;

/** Whether a run with this status counts as a failure. */
export const isFailed = (status: RunStatus): boolean => ruleOf(status).failed === true;

/** A run with the target of authorization, and the commit of its configuration. */
export interface RunView extends Pick<Run, "id" | "workspaceId" | "report"> {
  organizationId: OrganizationId;
  projectId: ProjectId;
  commitSha: string | null;
  commitUrl: string | null;
}

export const runEnded = (run: Run, organizationId: OrganizationId) =>
  ({ type: "runEnded", revision: run.revision, run, organizationId }) as const;

export type RunEvent = ReturnType<typeof runEnded>;

export const runNotFound = () => notFound("run");

/** A run has no permissions after it has ended. */
export const runAlreadyEnded = () => conflict("run_ended", "The run has ended.");

/** A run writes and locks only the workspace that it was reported for. */
export const runOfOtherWorkspace = () =>
  conflict("run_of_other_workspace", "The run belongs to another workspace.");
