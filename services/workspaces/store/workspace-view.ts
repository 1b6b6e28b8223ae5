import type { WorkspaceView } from "../domain/workspace.ts";
import type { WorkspaceLock } from "../domain/workspace-lock.ts";
import { ownDataRetentionPolicy } from "./data-retention-policy.ts";

const workspaceView = `
  select w.id, w.organization_id as "organizationId", o.name as "organizationName",
    o.allow_force_delete_workspaces as "allowForceDelete", w.project_id as "projectId",
    w.name, w.description, w.allow_destroy_plan as "allowDestroyPlan",
    -- What the organization enforces, no workspace can turn off.
    w.assessments_enabled or o.assessments_enforced as "assessmentsEnabled",
    w.auto_destroy_at as "autoDestroyAt",
    w.auto_destroy_activity_duration as "autoDestroyActivityDuration", w.vcs_repo as "vcsRepo",
    w.auto_apply as "autoApply", w.auto_apply_run_trigger as "autoApplyRunTrigger",
    coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode)
      as "executionMode",
    w.execution_mode is not null as "overwritesExecutionMode",
    case
      when coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode) <> 'agent'
        then null
      when w.agent_pool_id is not null then w.agent_pool_id
      when p.default_execution_mode is not null then p.default_agent_pool_id
      else o.default_agent_pool_id
    end as "agentPoolId", w.ssh_key_id as "sshKeyId",
    w.overwrites_agent_pool as "overwritesAgentPool",
    w.file_triggers_enabled as "fileTriggersEnabled",
    w.global_remote_state as "globalRemoteState",
    w.project_remote_state as "projectRemoteState", w.queue_all_runs as "queueAllRuns",
    w.source_name as "sourceName", w.source_url as "sourceUrl",
    w.speculative_enabled as "speculativeEnabled",
    w.structured_run_output_enabled as "structuredRunOutputEnabled",
    w.engine_version as "engineVersion", w.trigger_patterns as "triggerPatterns",
    w.trigger_prefixes as "triggerPrefixes", w.working_directory as "workingDirectory",
    ${workspaceLock("w")} as lock,
    w.current_state_version_id as "currentStateVersionId", w.resource_count as "resourceCount",
    w.latest_change_at as "latestChangeAt", w.created_at as "createdAt",
    w.updated_at as "updatedAt",
    -- index: tag_bindings_workspace_key
    array(
      select b.key from tag_bindings b where b.workspace_id = w.id and b.value = '' order by b.key
    ) as "tagNames",
    w.current_run_id as "currentRunId", w.latest_run_id as "latestRunId",
    w.current_configuration_version_id as "currentConfigurationVersionId",
    w.has_readme as "hasReadme",
    -- index: workspace_performance_pkey
    (select row_to_json(sums) from (
       select f.runs, f.run_failures as "runFailures",
         f.policy_check_failures as "policyCheckFailures", f.plan_runs as "planRuns",
         f.plan_ms as "planMs", f.apply_runs as "applyRuns", f.apply_ms as "applyMs"
       from workspace_performance f where f.workspace_id = w.id and f.runs > 0
     ) sums) as performance,
    -- index: data_retention_policies_workspace
    ${ownDataRetentionPolicy("r.workspace_id = w.id")}
  from workspaces w
  join organizations o on o.id = w.organization_id
  join projects p on p.id = w.project_id`;

/**
 * Selects what workspaces' documents show, in one statement; `rest` is their condition and order. One
 * column of JSON: to describe and parse forty costs twice as much in this process.
 */
export const selectWorkspaces = (rest: string): string =>
  `select row_to_json(shown) as workspace from (${workspaceView} ${rest}) shown`;

/** The lock of the row `workspace`, as one JSON column; null where nobody holds it. */
export function workspaceLock(workspace: string): string {
  const column = (name: string) => `${workspace}.lock_${name}`;
  return `case when ${column("epoch")} is not null then json_build_object(
      'holder', json_build_object('type', ${column("holder_type")}, 'id', ${column("holder_id")}),
      'reason', ${column("reason")}, 'since', ${column("since")}, 'epoch', ${column("epoch")}) end`;
}

/** `workspaceLock` as it is read: moments are text in JSON. */
export type LockJson = Omit<WorkspaceLock, "since" | "epoch"> & { since: string; epoch: number };

export const toLock = ({ holder, reason, since, epoch }: LockJson): WorkspaceLock => ({
  holder,
  reason,
  since: new Date(since),
  epoch: BigInt(epoch),
});

interface Moments {
  createdAt: string;
  updatedAt: string;
  autoDestroyAt: string | null;
  latestChangeAt: string | null;
}

/** A row of `selectWorkspaces`. */
export interface WorkspaceRow {
  workspace: Omit<WorkspaceView, "lock" | keyof Moments> & Moments & { lock: LockJson | null };
}

// On the path of every document: to spread once is cheap, to leave properties out of the rest is not.
export const toWorkspaceView = ({ workspace }: WorkspaceRow): WorkspaceView => ({
  ...workspace,
  createdAt: new Date(workspace.createdAt),
  updatedAt: new Date(workspace.updatedAt),
  latestChangeAt: moment(workspace.latestChangeAt),
  autoDestroyAt: moment(workspace.autoDestroyAt),
  lock: workspace.lock && toLock(workspace.lock),
});

const moment = (text: string | null): Date | null => (text === null ? null : new Date(text));
