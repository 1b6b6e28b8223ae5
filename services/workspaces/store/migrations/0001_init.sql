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
