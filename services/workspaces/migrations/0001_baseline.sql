create extension if not exists pg_trgm;

create table organizations (
  id text primary key,
  name text not null,
  email text not null,
  status text not null check (status in ('provisioning', 'active', 'deleting')),
  creator_user_id text not null,
  default_project_id text not null,
  default_execution_mode text not null,
  default_agent_pool_id text,
  allow_force_delete_workspaces boolean not null,
  assessments_enforced boolean not null,
  user_tokens_enabled boolean not null,
  max_ttl_enabled boolean not null default false,
  session_timeout integer,
  session_remember integer,
  owners_team_saml_role_id text,
  collaborator_auth_policy text not null,
  cost_estimation_enabled boolean not null,
  send_passing_statuses_for_untriggered_speculative_plans boolean not null,
  aggregated_commit_status_enabled boolean not null,
  speculative_plan_management_enabled boolean not null,
  plan text not null,
  -- How many workspaces the organization may have; null for no limit.
  workspace_limit integer,
  retry_at timestamptz(3) not null,
  revision bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index organizations_name_key on organizations (name);
-- Names of organizations that differ only by case are one name.
create unique index organizations_lower_name_key on organizations (lower(name));
create index organizations_unsettled on organizations (retry_at) where status = 'provisioning';
create index organizations_agent_pool on organizations (default_agent_pool_id)
  where default_agent_pool_id is not null;

-- What is left of an organization: its id, which is never used again. The other columns are emptied
-- once nothing of it is left anywhere; until then its deleter's repeat is recognized by them.
create table organization_deletions (
  organization_id text primary key,
  name text,
  deleted_by_type text,
  deleted_by_id text,
  retry_at timestamptz(3),
  constraint organization_deletions_whole check (
    num_nonnulls(name, deleted_by_type, deleted_by_id, retry_at) in (0, 4)
  )
);
create index organization_deletions_unsettled on organization_deletions (retry_at)
  where retry_at is not null;
create index organization_deletions_name on organization_deletions (name)
  where retry_at is not null;

-- One row: what administrators decide for the whole installation.
create table general_settings (
  id boolean primary key default true check (id),
  default_remote_state_access boolean not null default false,
  -- How long runners let the phases of a run take. Statehouse stores the durations and passes them on.
  plan_timeout text not null default '2h',
  apply_timeout text not null default '24h',
  -- Grows with every change of a policy or a plan, so that state knows answers that are too old.
  retention_version bigint not null default 0
);
insert into general_settings default values;

create table agent_pools (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  organization_scoped boolean not null,
  revision bigint not null,
  created_at timestamptz(3) not null
);
create unique index agent_pools_name_key on agent_pools (organization_id, name);

alter table organizations add constraint organizations_default_agent_pool
  foreign key (default_agent_pool_id) references agent_pools;

-- Keys with which version control is reached; `sealed_value` opens only with SEALING_KEYS.
create table ssh_keys (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  sealed_value text not null,
  revision bigint not null,
  created_at timestamptz(3) not null
);
create index ssh_keys_organization on ssh_keys (organization_id, name, id);

create table projects (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  description text,
  default_execution_mode text,
  -- The pool of its own default mode.
  default_agent_pool_id text references agent_pools,
  auto_destroy_activity_duration text,
  revision bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index projects_name_key on projects (organization_id, name);
create index projects_agent_pool on projects (default_agent_pool_id)
  where default_agent_pool_id is not null;

-- Room on each page, so that locking and the state summary are written without touching an index.
create table workspaces (
  id text primary key,
  organization_id text not null references organizations,
  project_id text not null references projects,
  name text not null,
  description text,
  allow_destroy_plan boolean not null,
  assessments_enabled boolean not null default false,
  auto_apply boolean not null,
  auto_apply_run_trigger boolean not null,
  auto_destroy_at timestamptz(3),
  auto_destroy_activity_duration text,
  -- Whether the workspace follows the auto-destroy settings of its project: those with settings of their own do not.
  inherits_project_auto_destroy boolean not null default true,
  -- The duration of the workspace's project, so that activity on the workspace sets its time without reading the
  -- project.
  inherited_activity_duration text,
  execution_mode text,
  overwrites_agent_pool boolean not null,
  -- The pool of its own mode.
  agent_pool_id text references agent_pools,
  file_triggers_enabled boolean not null,
  global_remote_state boolean not null,
  project_remote_state boolean not null default false,
  queue_all_runs boolean not null,
  source_name text,
  source_url text,
  speculative_enabled boolean not null,
  ssh_key_id text references ssh_keys on delete set null,
  structured_run_output_enabled boolean not null,
  engine_version text not null,
  trigger_patterns text[] not null,
  trigger_prefixes text[] not null,
  vcs_repo jsonb,
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
  current_run_id text,
  current_run_status text,
  current_run_created_at timestamptz(3),
  latest_run_id text,
  current_configuration_version_id text,
  has_readme boolean not null default false,
  revision bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint workspaces_lock_whole check (
    num_nonnulls(lock_holder_type, lock_holder_id, lock_reason, lock_since, lock_epoch) in (0, 5)
  ),
  constraint workspaces_one_lock check (lock_epoch is null or deletion_lock_epoch is null)
) with (fillfactor = 80);
-- With what a page is taken from, so that what is skipped is not fetched.
create unique index workspaces_name_key on workspaces (organization_id, name)
  include (id, project_id);
create index workspaces_name_trigram on workspaces using gin (name gin_trgm_ops);
create index workspaces_project_name on workspaces (project_id, name) include (id);
create index workspaces_latest_change
  on workspaces (organization_id, coalesce(latest_change_at, created_at), id);
-- Without a run counts as before any run, in both directions.
create index workspaces_current_run
  on workspaces (organization_id, coalesce(current_run_created_at, '-infinity'), id);
create index workspaces_current_run_status on workspaces (organization_id, current_run_status)
  where current_run_status is not null;
create index workspaces_agent_pool on workspaces (agent_pool_id)
  where agent_pool_id is not null;
create index workspaces_ssh_key on workspaces (ssh_key_id) where ssh_key_id is not null;
create index workspaces_auto_destroy on workspaces (auto_destroy_at)
  where auto_destroy_at is not null;
create index workspaces_unsettled on workspaces (retry_at)
  where placement_acknowledged < placement_version;
create index workspaces_deletion_lock on workspaces (deletion_lock_until)
  where deletion_lock_epoch is not null;

-- Exact totals without counting. Kept at COMMIT, so that creations in one project wait for each other
-- no longer than a commit takes, and no transaction holds this row while it waits for another one.
create table workspace_counts (
  organization_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  count integer not null,
  primary key (organization_id, project_id)
) with (fillfactor = 50);

create function count_workspaces() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update workspace_counts set count = count - 1
      where organization_id = old.organization_id and project_id = old.project_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into workspace_counts
      values (new.organization_id, new.project_id, 1)
      on conflict (organization_id, project_id) do update
        set count = workspace_counts.count + 1;
  end if;
  return null;
end $$;
create constraint trigger workspaces_counted after insert or delete on workspaces
  deferrable initially deferred for each row execute function count_workspaces();
create constraint trigger workspaces_counted_elsewhere
  after update of organization_id, project_id on workspaces
  deferrable initially deferred for each row
  when ((old.organization_id, old.project_id) <> (new.organization_id, new.project_id))
  execute function count_workspaces();

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

create table agent_pool_workspaces (
  agent_pool_id text not null references agent_pools on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  -- allowed or excluded
  relation text not null,
  primary key (agent_pool_id, workspace_id, relation)
);
create index agent_pool_workspaces_of_workspace on agent_pool_workspaces (workspace_id);

create table agent_pool_projects (
  agent_pool_id text not null references agent_pools on delete cascade,
  project_id text not null references projects on delete cascade,
  primary key (agent_pool_id, project_id)
);
create index agent_pool_projects_of_project on agent_pool_projects (project_id);

create table tag_bindings (
  id text primary key,
  organization_id text not null references organizations,
  workspace_id text references workspaces on delete cascade,
  project_id text references projects on delete cascade,
  key text not null,
  value text not null,
  -- Whether the binding was added as a flat tag, by tag-names or the tags relationship.
  through_tags boolean not null,
  created_at timestamptz(3) not null,
  constraint tag_bindings_one_owner check (num_nonnulls(workspace_id, project_id) = 1)
);
create unique index tag_bindings_workspace_key on tag_bindings (workspace_id, key);
create unique index tag_bindings_project_key on tag_bindings (project_id, key);
create index tag_bindings_tagged on tag_bindings (organization_id, key, value)
  where workspace_id is not null;
create index tag_bindings_tagged_value on tag_bindings (organization_id, value)
  where workspace_id is not null;
create index tag_bindings_project_tagged on tag_bindings (organization_id, key, value)
  where project_id is not null;

-- The ids of the flat tags that some workspace of the organization has.
create table tags (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  created_at timestamptz(3) not null
);
create unique index tags_name_key on tags (organization_id, name);

-- Keys of bindings that an organization has a plan for.
create table reserved_tag_keys (
  id text primary key,
  organization_id text not null references organizations,
  key text not null,
  disable_overrides boolean not null,
  revision bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index reserved_tag_keys_key on reserved_tag_keys (organization_id, key);

-- Which workspaces' runs may read a workspace's state, beside those of itself.
create table remote_state_consumers (
  workspace_id text not null references workspaces on delete cascade,
  consumer_id text not null references workspaces on delete cascade,
  primary key (workspace_id, consumer_id)
);
create index remote_state_consumers_consumer on remote_state_consumers (consumer_id);

-- How long backing data is kept: of a workspace, of an organization, or, with neither, of the site.
create table data_retention_policies (
  id text primary key,
  organization_id text references organizations,
  workspace_id text references workspaces on delete cascade,
  kind text not null check (kind in ('delete-older', 'dont-delete')),
  delete_older_than_n_days integer,
  -- The days after which state versions are deleted, if they differ from those of the whole policy.
  state_versions_delete_after_n_days integer,
  revision bigint not null,
  constraint data_retention_policies_one_target check (
    num_nonnulls(organization_id, workspace_id) <= 1
  ),
  constraint data_retention_policies_days check (
    (kind = 'delete-older')
      = (num_nonnulls(delete_older_than_n_days, state_versions_delete_after_n_days) > 0)
  )
);
create unique index data_retention_policies_organization
  on data_retention_policies (organization_id);
create unique index data_retention_policies_workspace
  on data_retention_policies (workspace_id);
create unique index data_retention_policies_site on data_retention_policies ((true))
  where organization_id is null and workspace_id is null;

-- As runners report them. Ids are compared bytewise, as the domain does.
create table runs (
  id text primary key,
  workspace_id text not null references workspaces on delete cascade,
  -- The runner that reported the run first, which owns it.
  runner text not null,
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
  -- The runner that reported the configuration version first, which owns it.
  runner text not null,
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

create table workspace_readmes (
  workspace_id text primary key references workspaces on delete cascade,
  revision bigint not null,
  raw_markdown text not null
);

-- One row: where the comparison with state stands, shared by all replicas.
create table state_comparison (
  only_row boolean primary key default true check (only_row),
  through text not null check (through in ('theirs', 'ours')),
  after text not null,
  due_at timestamptz(3) not null
);
insert into state_comparison (through, after, due_at) values ('theirs', '', now());
