/**
 * Runs an SQL statement. The functions of this file insert rows directly into the tables, for tests that need many or
 * unusual rows.
 */
type Sql = (text: string, values?: unknown[]) => Promise<unknown>;

/** Inserts an active organization with default values. */
export const insertOrganization = (sql: Sql, { id, name }: { id: string; name: string }) =>
  sql(
    `insert into organizations (id, name, email, status, creator_user_id, default_project_id,
       default_execution_mode, allow_force_delete_workspaces, assessments_enforced,
       user_tokens_enabled, collaborator_auth_policy, cost_estimation_enabled,
       send_passing_statuses_for_untriggered_speculative_plans, aggregated_commit_status_enabled,
       speculative_plan_management_enabled, plan, retry_at, revision, created_at, updated_at)
     values ($1, $2, 'a@example.com', 'active', 'user-1', '', 'local', false, false, true, 'password',
       false, false, true, true, 'premium', now(), 1, now(), now())`,
    [id, name],
  );

/** Inserts a project with default values. */
export const insertProject = (
  sql: Sql,
  { id, organizationId, name }: { id: string; organizationId: string; name: string },
) =>
  sql(
    `insert into projects (id, organization_id, name, revision, created_at, updated_at)
     values ($1, $2, $3, 1, now(), now())`,
    [id, organizationId, name],
  );

/** A value for each column of a workspace that has no default in the table. */
export const workspaceDefaults = {
  columns: `allow_destroy_plan, auto_apply, auto_apply_run_trigger, overwrites_agent_pool,
    file_triggers_enabled, global_remote_state, queue_all_runs, speculative_enabled,
    structured_run_output_enabled, engine_version, trigger_patterns, trigger_prefixes,
    last_lock_epoch, placement_version, placement_acknowledged, retry_at, resource_count,
    state_revision, revision, updated_at`,
  values: `true, false, false, false, true, false, false, true, true, '1.11.0', '{}', '{}', 0, 1, 1,
    now(), 0, 0, 1, now()`,
} as const;

/** Inserts a workspace with default values. Times are in ms since 1970. */
export const insertWorkspace = (
  sql: Sql,
  row: {
    id: string;
    organizationId: string;
    projectId: string;
    name: string;
    createdAt: number;
    latestChangeAt: number | null;
  },
) =>
  sql(
    `insert into workspaces (id, organization_id, project_id, name, created_at, latest_change_at,
       ${workspaceDefaults.columns})
     values ($1, $2, $3, $4, $5, $6, ${workspaceDefaults.values})`,
    [
      row.id,
      row.organizationId,
      row.projectId,
      row.name,
      new Date(row.createdAt),
      row.latestChangeAt === null ? null : new Date(row.latestChangeAt),
    ],
  );
