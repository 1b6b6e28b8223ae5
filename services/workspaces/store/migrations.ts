import { outboxMigration, parkedEventsMigration } from "@statehouse/events";
import type { SqlMigration } from "@statehouse/postgres";
import { organizationSettings } from "./migrations/0002-organization-settings.ts";
import { workspaceList } from "./migrations/0004-workspace-list.ts";
import { reservedTagKeys } from "./migrations/0005-reserved-tag-keys.ts";
import { workspaceSettings } from "./migrations/0006-workspace-settings.ts";
import { stateComparison } from "./migrations/0007-state-comparison.ts";
import { sshKeys } from "./migrations/0008-ssh-keys.ts";
import { dataRetentionPolicies } from "./migrations/0009-data-retention-policies.ts";
import { retentionVersion } from "./migrations/0010-retention-version.ts";

const init: SqlMigration = {
  name: "0001_init",
  up: `
    create extension if not exists pg_trgm;

    create table organizations (
      id text primary key,
      name text not null,
      email text not null,
      status text not null check (status in ('provisioning', 'active')),
      creator_user_id text not null,
      default_project_id text not null,
      default_execution_mode text not null,
      allow_force_delete_workspaces boolean not null,
      assessments_enforced boolean not null,
      user_tokens_enabled boolean not null,
      collaborator_auth_policy text not null,
      cost_estimation_enabled boolean not null,
      send_passing_statuses_for_untriggered_speculative_plans boolean not null,
      aggregated_commit_status_enabled boolean not null,
      speculative_plan_management_enabled boolean not null,
      plan text not null,
      retry_at timestamptz(3) not null,
      revision bigint not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null
    );
    create unique index organizations_name_key on organizations (name);
    create index organizations_unsettled on organizations (retry_at) where status = 'provisioning';

    create table projects (
      id text primary key,
      organization_id text not null references organizations,
      name text not null,
      description text,
      default_execution_mode text,
      revision bigint not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null
    );
    create unique index projects_name_key on projects (organization_id, name);

    -- Room on each page, so that locking and the state summary are written without touching an index.
    create table workspaces (
      id text primary key,
      organization_id text not null references organizations,
      project_id text not null references projects,
      name text not null,
      description text,
      allow_destroy_plan boolean not null,
      auto_apply boolean not null,
      auto_apply_run_trigger boolean not null,
      execution_mode text,
      overwrites_agent_pool boolean not null,
      file_triggers_enabled boolean not null,
      global_remote_state boolean not null,
      queue_all_runs boolean not null,
      source_name text,
      source_url text,
      speculative_enabled boolean not null,
      structured_run_output_enabled boolean not null,
      engine_version text not null,
      trigger_patterns text[] not null,
      trigger_prefixes text[] not null,
      working_directory text,
      lock_holder_type text,
      lock_holder_id text,
      lock_reason text,
      lock_since timestamptz(3),
      lock_epoch bigint,
      deletion_lock_epoch bigint,
      deletion_lock_until timestamptz(3),
      last_lock_epoch bigint not null,
      placement_version bigint not null,
      placement_acknowledged bigint not null,
      retry_at timestamptz(3) not null,
      current_state_version_id text,
      resource_count integer not null,
      latest_change_at timestamptz(3),
      state_revision bigint not null,
      revision bigint not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      constraint workspaces_lock_whole check (
        num_nonnulls(lock_holder_type, lock_holder_id, lock_reason, lock_since, lock_epoch) in (0, 5)
      ),
      constraint workspaces_one_lock check (lock_epoch is null or deletion_lock_epoch is null)
    ) with (fillfactor = 80);
    create unique index workspaces_name_key on workspaces (organization_id, name);
    create index workspaces_project on workspaces (project_id);
    create index workspaces_name_trigram on workspaces using gin (name gin_trgm_ops);
    create index workspaces_unsettled on workspaces (retry_at)
      where placement_acknowledged < placement_version;
    create index workspaces_deletion_lock on workspaces (deletion_lock_until)
      where deletion_lock_epoch is not null;

    -- What is left of a workspace: its id, which is never used again. The other columns are emptied
    -- as soon as state has acknowledged; until then a repeat of the request is recognized by them.
    create table workspace_deletions (
      workspace_id text primary key,
      organization_id text,
      project_id text,
      name text,
      retry_at timestamptz(3),
      constraint workspace_deletions_whole check (
        num_nonnulls(organization_id, project_id, name, retry_at) in (0, 4)
      )
    );
    create index workspace_deletions_unsettled on workspace_deletions (retry_at)
      where retry_at is not null;
    create index workspace_deletions_name on workspace_deletions (organization_id, name)
      where retry_at is not null;

    -- A binding with an empty value is a flat tag; there is no other record of flat tags.
    create table tag_bindings (
      id text primary key,
      organization_id text not null references organizations,
      workspace_id text references workspaces on delete cascade,
      project_id text references projects on delete cascade,
      key text not null,
      value text not null,
      created_at timestamptz(3) not null,
      constraint tag_bindings_one_owner check (num_nonnulls(workspace_id, project_id) = 1)
    );
    create unique index tag_bindings_workspace_key on tag_bindings (workspace_id, key);
    create unique index tag_bindings_project_key on tag_bindings (project_id, key);
    create index tag_bindings_tagged on tag_bindings (organization_id, key, value)
      where workspace_id is not null;

    -- The ids of the flat tags that some workspace of the organization has.
    create table tags (
      id text primary key,
      organization_id text not null references organizations,
      name text not null,
      created_at timestamptz(3) not null
    );
    create unique index tags_name_key on tags (organization_id, name);
  `,
};

const runs: SqlMigration = {
  name: "0002_runs",
  up: `
    alter table workspaces
      add column project_remote_state boolean not null default false,
      add column current_run_id text,
      add column current_run_status text,
      add column current_run_created_at timestamptz(3),
      add column latest_run_id text,
      add column current_configuration_version_id text,
      add column has_readme boolean not null default false;
    create index workspaces_current_run_created_at
      on workspaces (organization_id, current_run_created_at, id);
    create index workspaces_current_run_status on workspaces (organization_id, current_run_status)
      where current_run_status is not null;

    -- As runners report them. Ids are compared bytewise, as the domain does.
    create table runs (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      revision bigint not null,
      status text not null,
      created_at timestamptz(3) not null,
      plan_only boolean not null,
      configuration_version_id text,
      policy_check_failed boolean not null,
      plan_ms bigint,
      apply_ms bigint,
      ended boolean not null,
      measured boolean not null,
      in_window boolean not null,
      report jsonb not null
    );
    create index runs_latest on runs (workspace_id, created_at desc, id collate "C" desc);
    create index runs_current
      on runs (workspace_id, (status = 'pending'), created_at desc, id collate "C" desc)
      where not plan_only;
    create index runs_measured
      on runs (workspace_id, in_window, created_at desc, id collate "C" desc) where measured;

    create table workspace_performance (
      workspace_id text primary key references workspaces on delete cascade,
      runs integer not null,
      run_failures integer not null,
      policy_check_failures integer not null,
      plan_runs integer not null,
      plan_ms bigint not null,
      apply_runs integer not null,
      apply_ms bigint not null
    );

    create table configuration_versions (
      id text primary key,
      workspace_id text not null references workspaces on delete cascade,
      revision bigint not null,
      created_at timestamptz(3) not null,
      speculative boolean not null,
      commit_sha text,
      commit_url text,
      report jsonb not null
    );
    create index configuration_versions_workspace
      on configuration_versions (workspace_id, created_at desc, id collate "C" desc);
    create index configuration_versions_current
      on configuration_versions (workspace_id, created_at desc, id collate "C" desc)
      where not speculative;

    -- Which workspaces' runs may read a workspace's state, beside those of itself.
    create table remote_state_consumers (
      workspace_id text not null references workspaces on delete cascade,
      consumer_id text not null references workspaces on delete cascade,
      primary key (workspace_id, consumer_id)
    );
    create index remote_state_consumers_consumer on remote_state_consumers (consumer_id);

    create table workspace_readmes (
      workspace_id text primary key references workspaces on delete cascade,
      revision bigint not null,
      raw_markdown text not null
    );
  `,
};

/** In order of application. */
export const migrations: readonly SqlMigration[] = [
  outboxMigration,
  parkedEventsMigration,
  init,
  runs,
  organizationSettings,
  workspaceList,
  reservedTagKeys,
  workspaceSettings,
  stateComparison,
  sshKeys,
  dataRetentionPolicies,
  retentionVersion,
];
