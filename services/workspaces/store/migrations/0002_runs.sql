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
