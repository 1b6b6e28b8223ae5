import type { Holder } from "../domain/holder.ts";
import type { WorkspaceView } from "../domain/workspace-view.ts";

/** Selects what a workspace's document shows, in one statement; conditions and order follow. */
export const workspaceView = `
  select w.id, w.organization_id as "organizationId", o.name as "organizationName",
    o.allow_force_delete_workspaces as "allowForceDelete", w.project_id as "projectId",
    w.name, w.description, w.allow_destroy_plan as "allowDestroyPlan",
    w.auto_apply as "autoApply", w.auto_apply_run_trigger as "autoApplyRunTrigger",
    coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode)
      as "executionMode",
    w.execution_mode is not null as "overwritesExecutionMode",
    w.overwrites_agent_pool as "overwritesAgentPool",
    w.file_triggers_enabled as "fileTriggersEnabled",
    w.global_remote_state as "globalRemoteState", w.queue_all_runs as "queueAllRuns",
    w.source_name as "sourceName", w.source_url as "sourceUrl",
    w.speculative_enabled as "speculativeEnabled",
    w.structured_run_output_enabled as "structuredRunOutputEnabled",
    w.engine_version as "engineVersion", w.trigger_patterns as "triggerPatterns",
    w.trigger_prefixes as "triggerPrefixes", w.working_directory as "workingDirectory",
    w.lock_holder_type as "lockHolderType", w.lock_holder_id as "lockHolderId",
    w.lock_reason as "lockReason", w.lock_since as "lockSince", w.lock_epoch as "lockEpoch",
    w.current_state_version_id as "currentStateVersionId", w.resource_count as "resourceCount",
    w.latest_change_at as "latestChangeAt", w.created_at as "createdAt",
    w.updated_at as "updatedAt",
    -- index: tag_bindings_workspace_key
    array(
      select b.key from tag_bindings b where b.workspace_id = w.id and b.value = '' order by b.key
    ) as "tagNames"
  from workspaces w
  join organizations o on o.id = w.organization_id
  join projects p on p.id = w.project_id`;

/** A lock as its columns have it. */
export interface LockColumns {
  lockHolderType: Holder["type"] | null;
  lockHolderId: string | null;
  lockReason: string | null;
  lockSince: Date | null;
  lockEpoch: number | null;
}

export type WorkspaceViewRow = Omit<WorkspaceView, "lock"> & LockColumns;

/** The lock that the columns hold: all of them or none. */
export function toLock(row: LockColumns): WorkspaceView["lock"] {
  const { lockHolderType: type, lockHolderId: id, lockReason, lockSince, lockEpoch } = row;
  if (!type || !id || lockReason === null || !lockSince || lockEpoch === null) return null;
  return { holder: { type, id }, reason: lockReason, since: lockSince, epoch: BigInt(lockEpoch) };
}

export function toWorkspaceView(row: WorkspaceViewRow): WorkspaceView {
  const { lockHolderType, lockHolderId, lockReason, lockSince, lockEpoch, ...shown } = row;
  const columns = { lockHolderType, lockHolderId, lockReason, lockSince, lockEpoch };
  return { ...shown, lock: toLock(columns) };
}
